"""Opt-outs: projects and sessions that memory is switched off for."""
