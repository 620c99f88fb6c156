"""The periodic mixture: one model, one evidence, and the diagonal layer that proposes its lines."""
