"""Since 2016: what later work made of randomized value functions."""
