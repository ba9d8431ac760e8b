"""Steps of sessions at which an agent chose badly or well, one module a behaviour."""
