"""Providers: what calls a model, each behind the one port."""
