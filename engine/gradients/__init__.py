"""Exact gradients: through time as products of step Jacobians, across attention, and through depth."""
