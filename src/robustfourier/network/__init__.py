"""The paper's networks: their description, weights and modes by numpy, and torch modules."""
