"""The API group `specdec.dev`: names, types of both kinds, conditions with their reasons."""
