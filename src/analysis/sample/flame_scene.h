/*
 * flame_scene.h - a flame graph as a scene: boxes as wide as the time spent in a function and what
 * it called, below each what it called, the heaviest first. Colours tell whose code it is; with a
 * run before it, what has become more (red) and less (blue).
 */
#ifndef UT_SAMPLE_FLAME_SCENE_H
#define UT_SAMPLE_FLAME_SCENE_H

struct ut_prof;
struct ut_scene;

/* before may be NULL. Both settled. The caller frees the scene. */
struct ut_scene *ut_flame_scene(const struct ut_prof *p, const struct ut_prof *before);

#endif
