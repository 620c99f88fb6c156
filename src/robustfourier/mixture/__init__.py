"""From sums to the periods that are really there: lines, noise, significance, components."""
