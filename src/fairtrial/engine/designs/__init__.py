"""Designs: experiments whose later trials depend on earlier outcomes."""
