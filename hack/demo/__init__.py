"""`make demo`: the main job, narrated: a load that passes break-even and falls back below it."""
