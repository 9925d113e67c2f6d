"""Keeps a live picture of a web site: its pages, their nearest neighbours and the links it lacks."""
