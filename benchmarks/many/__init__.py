"""Surveys and long records: engines that agree, deaths that cost nothing, rates and memory."""
