"""Packing, coding and addressing what ranks send to each other."""
