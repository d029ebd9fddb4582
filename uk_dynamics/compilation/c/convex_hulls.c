/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Where two convex bodies with flat faces touch, as constraints/rows/convex_hulls.py has it. */
#pragma once

#include <math.h>
#include <string.h>

#include "attributes.h"
#include "uk_config.h"
#include "uk_hull_sizes.h"
#include "uk_lanes.h"

typedef struct {
  int corners, faces, edges;
  double size;
  const double *corner, *normal, *along; /* three numbers each; along a face */
  const int *loop_start, *loop;          /* corners of each face, in turn */
  const int *edge, *edge_face;           /* both corners, and both faces, of each edge */
} uk_hull;

/* A hull in the world. */
typedef struct {
  const uk_hull *of;
  double corner[3 * UK_HULL_CORNERS], normal[3 * UK_HULL_FACES], along[3 * UK_HULL_FACES];
} uk_placed_hull;

/* A corner and a plane, or two lines, that are near. */
typedef struct {
  double gap, point[3], x[3], normal[3], of_parent, edge[3];
} uk_touching;

#define UK_TOUCH ((int)(sizeof(uk_touching) / sizeof(double)))

/* Points that are found, each once: of two faces corners and crossings of their edges. */
typedef struct {
  uk_touching point[4 * UK_HULL_CORNERS];
  int count;
  double least, same; /* gaps that count; points that are nearer are one */
} uk_touches;

static inline double uk_hull_dot(const double *x, const double *y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }

static inline void uk_hull_cross(const double *x, const double *y, double *z) {
  z[0] = x[1] * y[2] - x[2] * y[1], z[1] = x[2] * y[0] - x[0] * y[2], z[2] = x[0] * y[1] - x[1] * y[0];
}

static inline void uk_hull_minus(const double *x, const double *y, double *z) {
  for (int k = 0; k < 3; ++k) z[k] = x[k] - y[k];
}

static inline double uk_hull_length(const double *x) { return sqrt(uk_hull_dot(x, x)); }

static void uk_hull_turn(const double *R, const double *p, const double *own, int count, double *found) {
  for (int i = 0; i < 3 * count; ++i) found[i] = uk_hull_dot(R + i % 3 * 3, own + i / 3 * 3) + (p ? p[i % 3] : 0.0);
}

static void uk_hull_place(const uk_hull *hull, const double *place, uk_placed_hull *placed) {
  placed->of = hull;
  uk_hull_turn(place, place + 9, hull->corner, hull->corners, placed->corner);
  uk_hull_turn(place, NULL, hull->normal, hull->faces, placed->normal);
  uk_hull_turn(place, NULL, hull->along, hull->faces, placed->along);
}

static const double *uk_hull_corner_of(const uk_placed_hull *body, int face, int k) {
  const int *start = body->of->loop_start + face, count = start[1] - start[0];
  return body->corner + 3 * body->of->loop[start[0] + k % count];
}

static int uk_hull_corners_of(const uk_placed_hull *body, int face) {
  return body->of->loop_start[face + 1] - body->of->loop_start[face];
}

/* Where the largest is, and of several that differ by rounding the first. */
static int uk_hull_largest(const double *values, int count, double size) {
  double most = values[0];
  int k = 0;
  for (int i = 1; i < count; ++i) most = values[i] > most ? values[i] : most;
  while (values[k] < most - UK_HULL_TIE * size) ++k;
  return k;
}

/* The face of one body from which the other is farthest. */
static int uk_hull_farthest_face(const uk_placed_hull *one, const uk_placed_hull *other, double size, double *gap) {
  double depth[UK_HULL_FACES];
  for (int f = 0; f < one->of->faces; ++f) {
    const double *n = one->normal + 3 * f, from = uk_hull_dot(n, uk_hull_corner_of(one, f, 0));
    depth[f] = INFINITY;
    for (int i = 0; i < other->of->corners; ++i) {
      const double height = uk_hull_dot(n, other->corner + 3 * i) - from;
      depth[f] = height < depth[f] ? height : depth[f]; /* fmin would be a call */
    }
  }
  *gap = depth[0];
  for (int f = 1; f < one->of->faces; ++f) *gap = depth[f] > *gap ? depth[f] : *gap;
  return uk_hull_largest(depth, one->of->faces, size);
}

/* Lines through p along a, of the parent, and through q along b, which are that way from it; 0: they are parallel. */
static int uk_hull_crossing(const double *p, const double *along, const double *q, const double *across,
                            const double *towards, uk_touching *found) {
  const double length = uk_hull_length(along), other = uk_hull_length(across);
  double a[3], b[3], w[3];
  for (int k = 0; k < 3; ++k) a[k] = along[k] / length, b[k] = across[k] / other;
  uk_hull_cross(a, b, found->normal);
  const double sine = uk_hull_length(found->normal), c = uk_hull_dot(a, b);
  if (sine <= UK_HULL_ACROSS) return 0;
  const double to = uk_hull_dot(found->normal, towards), side = to > 0.0 ? 1.0 : to < 0.0 ? -1.0 : 0.0;
  uk_hull_minus(q, p, w);
  const double t = (c * uk_hull_dot(a, w) - uk_hull_dot(b, w)) / (sine * sine);
  for (int k = 0; k < 3; ++k) {
    found->normal[k] *= side / sine;
    found->point[k] = q[k] + t * b[k];
    found->x[k] = a[k], found->edge[k] = side * b[k];
  }
  found->gap = uk_hull_dot(found->normal, w), found->of_parent = 0.0;
  return 1;
}

/* Begin and direction of an edge. */
static const double *uk_hull_edge(const uk_placed_hull *body, int k, double *direction) {
  const int *ends = body->of->edge + 2 * k;
  uk_hull_minus(body->corner + 3 * ends[1], body->corner + 3 * ends[0], direction);
  return body->corner + 3 * ends[0];
}

/* The pair of edges that separates most, among those whose faces allow it; 0: there is none. */
static int uk_hull_edge_on_edge(const uk_placed_hull *parent, const uk_placed_hull *child, double size,
                                uk_touching *found) {
  double most = -INFINITY, chosen = -INFINITY, normal[3], across[3], way[3], best_normal[3] = {0.0};
  int one = -1, other = -1;
  for (int j = 0; j < child->of->edges; ++j) {
    const int *faces = child->of->edge_face + 2 * j;
    double c[3], d[3], under[3];
    for (int k = 0; k < 3; ++k) c[k] = -child->normal[3 * faces[0] + k], d[k] = -child->normal[3 * faces[1] + k];
    uk_hull_cross(d, c, under);
    const double *q = uk_hull_edge(child, j, across);
    for (int i = 0; i < parent->of->edges; ++i) {
      const double *a = parent->normal + 3 * parent->of->edge_face[2 * i];
      const double *b = parent->normal + 3 * parent->of->edge_face[2 * i + 1];
      const double adc = uk_hull_dot(a, under), bdc = uk_hull_dot(b, under);
      double over[3], along[3];
      if (!(adc * bdc < 0.0)) continue;
      uk_hull_cross(b, a, over);
      const double cba = uk_hull_dot(over, c), dba = uk_hull_dot(over, d);
      if (!(cba * dba < 0.0 && cba * bdc > 0.0)) continue;
      const double *p = uk_hull_edge(parent, i, along);
      uk_hull_cross(along, across, normal);
      const double length = uk_hull_length(normal), to = uk_hull_dot(normal, a) + uk_hull_dot(normal, b);
      if (length <= UK_HULL_ACROSS * uk_hull_length(along) * uk_hull_length(across)) continue;
      uk_hull_minus(q, p, way);
      const double gap = uk_hull_dot(normal, way) / (to < 0.0 ? -length : length);
      most = gap > most ? gap : most;
      /* of several that differ by rounding the first, as counted by the parent's edge */
      const int earlier = one >= 0 && gap >= most - UK_HULL_TIE * size && (i < one || (i == one && j < other));
      if (!earlier && !(chosen < most - UK_HULL_TIE * size)) continue;
      one = i, other = j, chosen = gap;
      for (int k = 0; k < 3; ++k) best_normal[k] = to < 0.0 ? -normal[k] : normal[k];
    }
  }
  if (one < 0) return 0;
  double along[3];
  const double *p = uk_hull_edge(parent, one, along), *q = uk_hull_edge(child, other, across);
  return uk_hull_crossing(p, along, q, across, best_normal, found);
}

/* A corner of the other body over a face, of the child where they are exchanged. */
static uk_touching uk_hull_corner_on_face(const uk_placed_hull *on, int face, const double *corner, double gap,
                                          int swapped) {
  uk_touching found = {.gap = gap, .of_parent = swapped};
  for (int k = 0; k < 3; ++k) {
    found.point[k] = corner[k], found.x[k] = on->along[3 * face + k];
    found.normal[k] = swapped ? -on->normal[3 * face + k] : on->normal[3 * face + k];
  }
  return found;
}

static void uk_hull_keep(uk_touches *all, uk_touching one) {
  if (one.gap < all->least || all->count == (int)(sizeof all->point / sizeof *all->point)) return;
  for (int i = 0; i < all->count; ++i) {
    const uk_touching *other = all->point + i;
    int same = 1;
    for (int k = 0; k < 3; ++k)
      same = same && fabs(one.point[k] - other->point[k]) <= all->same &&
             fabs(one.normal[k] - other->normal[k]) <= UK_HULL_SAME;
    if (same) return;
  }
  all->point[all->count++] = one;
}

/* Whether a point lies in a face, at least a margin from its edges, seen along a normal. */
static int uk_hull_within(const double *point, const uk_placed_hull *body, int face, const double *normal,
                          double margin, double turn) {
  for (int k = 0; k < uk_hull_corners_of(body, face); ++k) {
    double side[3], inward[3], off[3];
    uk_hull_minus(uk_hull_corner_of(body, face, k + 1), uk_hull_corner_of(body, face, k), side);
    uk_hull_cross(side, normal, inward);
    uk_hull_minus(point, uk_hull_corner_of(body, face, k), off);
    if (!(-turn * uk_hull_dot(inward, off) >= margin * uk_hull_length(inward))) return 0;
  }
  return 1;
}

/* The other body's corner that is nearest to a face's plane, or deepest behind it. */
static int uk_hull_lowest(const uk_placed_hull *on, int face, const uk_placed_hull *over) {
  double depth[UK_HULL_CORNERS];
  for (int i = 0; i < over->of->corners; ++i) depth[i] = -uk_hull_dot(on->normal + 3 * face, over->corner + 3 * i);
  return uk_hull_largest(depth, over->of->corners, fmin(on->of->size, over->of->size));
}

/* Pairs of a face and of that which looks at it most, of those at the other's lowest corner. */
static void uk_hull_over_face(const uk_placed_hull *one, const uk_placed_hull *other, int face, int swapped,
                              uk_touches *all) {
  const double *n = one->normal + 3 * face, size = fmin(one->of->size, other->of->size);
  double facing[UK_HULL_FACES], off[3], a[3], b[3], off_near[3], off_far[3];
  const int lowest = uk_hull_lowest(one, face, other);
  for (int f = 0; f < other->of->faces; ++f) {
    const int *start = other->of->loop_start + f;
    facing[f] = -INFINITY;
    for (int k = start[0]; k < start[1]; ++k)
      if (other->of->loop[k] == lowest) facing[f] = -uk_hull_dot(n, other->normal + 3 * f);
  }
  const int against = uk_hull_largest(facing, other->of->faces, 1.0);
  const double *m = other->normal + 3 * against;
  const int near = uk_hull_corners_of(one, face), far = uk_hull_corners_of(other, against);
  for (int j = 0; j < far; ++j) {
    const double *corner = uk_hull_corner_of(other, against, j);
    uk_hull_minus(corner, uk_hull_corner_of(one, face, 0), off);
    if (uk_hull_within(corner, one, face, n, UK_HULL_INSIDE * size, 1.0))
      uk_hull_keep(all, uk_hull_corner_on_face(one, face, corner, uk_hull_dot(n, off), swapped));
  }
  if (facing[against] <= UK_HULL_ACROSS) return;
  for (int i = 0; i < near; ++i) {
    const double *corner = uk_hull_corner_of(one, face, i);
    uk_hull_minus(corner, uk_hull_corner_of(other, against, 0), off);
    if (uk_hull_within(corner, other, against, n, UK_HULL_INSIDE * size, -1.0))
      uk_hull_keep(all, uk_hull_corner_on_face(other, against, corner, uk_hull_dot(m, off), !swapped));
  }
  for (int i = 0; i < near; ++i)
    for (int j = 0; j < far; ++j) {
      const double *p = uk_hull_corner_of(one, face, i), *q = uk_hull_corner_of(other, against, j);
      const double opposite[3] = {-n[0], -n[1], -n[2]};
      uk_touching found;
      uk_hull_minus(uk_hull_corner_of(one, face, i + 1), p, a), uk_hull_cross(n, a, off_near);
      uk_hull_minus(uk_hull_corner_of(other, against, j + 1), q, b), uk_hull_cross(b, n, off_far);
      uk_hull_minus(q, p, off);
      const double area = uk_hull_dot(off_near, b);
      if (fabs(area) <= UK_HULL_ACROSS * uk_hull_length(a) * uk_hull_length(b)) continue;
      const double s = uk_hull_dot(off_far, off) / area, t = -uk_hull_dot(off_near, off) / area;
      if (!(fabs(s - 0.5) <= 0.5 + UK_HULL_SAME * size / uk_hull_length(a))) continue;
      if (!(fabs(t - 0.5) <= 0.5 + UK_HULL_SAME * size / uk_hull_length(b))) continue;
      if (swapped ? uk_hull_crossing(q, b, p, a, opposite, &found) : uk_hull_crossing(p, a, q, b, n, &found))
        uk_hull_keep(all, found);
    }
}

/* Of too many points the lowest and what is farthest from them, in their order. */
static void uk_hull_choose(uk_touches *all, double size) {
  double gap[4 * UK_HULL_CORNERS], distance[4 * UK_HULL_CORNERS], off[3];
  int chosen[4 * UK_HULL_CORNERS] = {0}, count = 0;
  if (all->count <= UK_HULL_POINTS) return;
  for (int i = 0; i < all->count; ++i) gap[i] = -all->point[i].gap, distance[i] = INFINITY;
  for (int k = 0; k < UK_HULL_POINTS; ++k) {
    const int next = uk_hull_largest(k ? distance : gap, all->count, size);
    chosen[next] = 1;
    for (int i = 0; i < all->count; ++i) {
      uk_hull_minus(all->point[i].point, all->point[next].point, off);
      distance[i] = fmin(distance[i], uk_hull_length(off));
    }
  }
  for (int i = 0; i < all->count; ++i)
    if (chosen[i]) all->point[count++] = all->point[i];
  all->count = count;
}

/* Where two hulls are nearest; at least one point. */
static void uk_find_touches(const uk_placed_hull *parent, const uk_placed_hull *child, uk_touches *all) {
  const double size = fmin(parent->of->size, child->of->size);
  double best, other;
  uk_touching edge;
  int face = uk_hull_farthest_face(parent, child, size, &best);
  const int opposite = uk_hull_farthest_face(child, parent, size, &other), swapped = other > best + UK_HULL_SAME * size;
  if (swapped) best = other, face = opposite;
  all->count = 0, all->least = best - UK_HULL_SAME * size, all->same = UK_HULL_SAME * size;
  if (uk_hull_edge_on_edge(parent, child, size, &edge) && edge.gap > best + UK_HULL_EDGE_FIRST * size) {
    all->point[all->count++] = edge;
    return;
  }
  const uk_placed_hull *on = swapped ? child : parent, *over = swapped ? parent : child;
  uk_hull_over_face(on, over, face, swapped, all);
  if (!all->count) { /* no corner of either is over the other */
    const int lowest = uk_hull_lowest(on, face, over);
    all->point[all->count++] = uk_hull_corner_on_face(on, face, over->corner + 3 * lowest, best, swapped);
  }
  uk_hull_choose(all, size);
}

/* What is known of each point, where the frames are; those that there are none of are far away. */
UK_OPTIONAL static void uk_lanes_touch(const uk_hull *parent, const uk_hull *child, const uk_lanes *place,
                                       uk_lanes *const *found) {
  uk_placed_hull one, other;
  uk_touches all;
  double at[24];
  for (int l = 0; l < UK_WIDTH; ++l) {
    for (int k = 0; k < 24; ++k) at[k] = UK_PART(place[k], l);
    uk_hull_place(parent, at, &one), uk_hull_place(child, at + 12, &other);
    uk_find_touches(&one, &other, &all);
    int lowest = 0;
    for (int i = 1; i < all.count; ++i) lowest = all.point[i].gap < all.point[lowest].gap ? i : lowest;
    uk_touching spare = {.gap = UK_HULL_SPARE, .of_parent = all.point[lowest].of_parent};
    memcpy(spare.point, all.point[lowest].point, sizeof spare.point);
    while (all.count < UK_HULL_POINTS) all.point[all.count++] = spare;
    const double *numbers = (const double *)all.point;
    for (int k = 0; k < UK_HULL_POINTS * UK_TOUCH; ++k) UK_PART(*found[k], l) = numbers[k];
  }
}
