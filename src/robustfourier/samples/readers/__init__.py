"""Readers of files that are no text, each the one home of the library that opens them."""
