"""From lines to repeating patterns: families of harmonics, their waveforms and links."""
