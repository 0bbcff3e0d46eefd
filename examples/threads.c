/*
 * threads.c - a little image pipeline that shows most of what ITT can say.
 *
 * The main thread draws pictures and cuts each into tiles; workers blur the tiles and find edges;
 * an encoder packs finished pictures. At most IN_FLIGHT pictures are under way at once. The result
 * is the same number on every run. Takes well under a second.
 *
 *	cc -Iinclude examples/threads.c -Lbuild/lib -littnotify -lpthread -lm -o threads
 *	unitrace ./threads
 *
 * In the timeline: named threads; "tile" tasks with "blur" and "edges" inside and their place as
 * metadata; one overlapped task and one frame per picture, begun by main and ended by the encoder;
 * relations from tiles and encoding to the drawing they need; counters; a marker at each change of
 * scene.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <ittnotify.h>

enum {
	WIDTH = 640,
	HEIGHT = 480,
	TILE = 160, /* divides both */
	TILES_ACROSS = WIDTH / TILE,
	TILES = TILES_ACROSS * (HEIGHT / TILE),
	PICTURES = 16,
	SCENE = 6, /* pictures until the scene changes */
	IN_FLIGHT = 3,
	WORKERS = 3,
	RADIUS = 4, /* of the blur */
};

struct picture {
	int number;
	__itt_id id, drawn;
	atomic_int tiles_left;
	float in[HEIGHT][WIDTH];
	float blurred[HEIGHT][WIDTH];
	uint8_t out[HEIGHT][WIDTH];
};

struct job {
	struct picture *picture; /* NULL: go home */
	int tile;
};

/* First in, first out. Never full: IN_FLIGHT bounds what can be in it. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job jobs[IN_FLIGHT * TILES + WORKERS + 1];
	size_t head, count;
};

static struct queue to_filter = { .lock = PTHREAD_MUTEX_INITIALIZER,
				  .filled = PTHREAD_COND_INITIALIZER };
static struct queue to_encode = { .lock = PTHREAD_MUTEX_INITIALIZER,
				  .filled = PTHREAD_COND_INITIALIZER };
static struct queue idle = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .filled = PTHREAD_COND_INITIALIZER }; /* pictures to draw on */

static struct {
	__itt_domain *domain;
	__itt_string_handle *draw, *tile, *blur, *edges, *encode;
	__itt_string_handle *picture, *scene, *number, *place, *title, *packed;
	__itt_counter tiles_waiting, pictures_done, ratio;
} trace;

static void name_things(void)
{
	static char percent[] = "%";
	__itt_context_metadata unit = { __itt_context_units, percent };

	trace.domain = __itt_domain_create("example.pipeline");
	trace.draw = __itt_string_handle_create("draw");
	trace.tile = __itt_string_handle_create("tile");
	trace.blur = __itt_string_handle_create("blur");
	trace.edges = __itt_string_handle_create("edges");
	trace.encode = __itt_string_handle_create("encode");
	trace.picture = __itt_string_handle_create("picture");
	trace.scene = __itt_string_handle_create("scene change");
	trace.number = __itt_string_handle_create("number");
	trace.place = __itt_string_handle_create("x, y");
	trace.title = __itt_string_handle_create("title");
	trace.packed = __itt_string_handle_create("%d bytes, %.1f %% of %s");
	trace.tiles_waiting = __itt_counter_create("tiles waiting", "example.pipeline");
	trace.pictures_done = __itt_counter_create("pictures done", "example.pipeline");
	trace.ratio = __itt_counter_create_typed("packed size", "example.pipeline",
						 __itt_metadata_double);
	__itt_bind_context_metadata_to_counter(trace.ratio, 1, &unit);
}

static size_t put(struct queue *q, struct picture *picture, int tile)
{
	size_t room = sizeof(q->jobs) / sizeof(*q->jobs), waiting;

	pthread_mutex_lock(&q->lock);
	q->jobs[(q->head + q->count) % room] = (struct job){ picture, tile };
	waiting = ++q->count;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
	return waiting;
}

static struct job take(struct queue *q, size_t *waiting)
{
	size_t room = sizeof(q->jobs) / sizeof(*q->jobs);
	struct job job;

	pthread_mutex_lock(&q->lock);
	while (!q->count)
		pthread_cond_wait(&q->filled, &q->lock);
	job = q->jobs[q->head];
	q->head = (q->head + 1) % room;
	*waiting = --q->count;
	pthread_mutex_unlock(&q->lock);
	return job;
}

static void count_waiting(size_t waiting)
{
	uint64_t value = waiting;

	__itt_counter_set_value(trace.tiles_waiting, &value);
}

/* ---- Workers -------------------------------------------------------------------------------- */

static int clamp(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

static float mean_around(const struct picture *p, int x, int y)
{
	float sum = 0;

	for (int dy = -RADIUS; dy <= RADIUS; dy++)
		for (int dx = -RADIUS; dx <= RADIUS; dx++)
			sum += p->in[clamp(y + dy, 0, HEIGHT - 1)][clamp(x + dx, 0, WIDTH - 1)];
	return sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
}

static void blur(struct picture *p, int x0, int y0)
{
	__itt_task_begin(trace.domain, __itt_null, __itt_null, trace.blur);
	for (int y = y0; y < y0 + TILE; y++)
		for (int x = x0; x < x0 + TILE; x++)
			p->blurred[y][x] = mean_around(p, x, y);
	__itt_task_end(trace.domain);
}

/* Looks at this tile's pixels only: the neighbours may still be in the making. */
static void edges(struct picture *p, int x0, int y0)
{
	__itt_task_begin(trace.domain, __itt_null, __itt_null, trace.edges);
	for (int y = y0; y < y0 + TILE; y++)
		for (int x = x0; x < x0 + TILE; x++) {
			float right = p->blurred[y][clamp(x + 1, x0, x0 + TILE - 1)];
			float below = p->blurred[clamp(y + 1, y0, y0 + TILE - 1)][x];
			float slope = hypotf(right - p->blurred[y][x], below - p->blurred[y][x]);

			p->out[y][x] = (uint8_t)clamp((int)(slope * 64), 0, 255);
		}
	__itt_task_end(trace.domain);
}

static void filter_tile(struct picture *p, int tile)
{
	int32_t place[] = { tile % TILES_ACROSS * TILE, tile / TILES_ACROSS * TILE };

	__itt_task_begin(trace.domain, __itt_null, p->id, trace.tile);
	__itt_metadata_add(trace.domain, __itt_null, trace.place, __itt_metadata_s32, 2, place);
	__itt_relation_add_to_current(trace.domain, __itt_relation_is_dependent_on, p->drawn);
	blur(p, place[0], place[1]);
	edges(p, place[0], place[1]);
	__itt_task_end(trace.domain);

	if (atomic_fetch_sub(&p->tiles_left, 1) == 1)
		put(&to_encode, p, 0);
}

static void *worker(void *number)
{
	char name[32];
	size_t waiting;
	struct job job;

	snprintf(name, sizeof(name), "worker %d", *(const int *)number);
	__itt_thread_set_name(name);
	for (job = take(&to_filter, &waiting); job.picture; job = take(&to_filter, &waiting)) {
		count_waiting(waiting);
		filter_tile(job.picture, job.tile);
	}
	return NULL;
}

/* ---- The encoder ---------------------------------------------------------------------------- */

/* Packs runs of equal bytes. Returns the packed size; *sum gets a number that depends on all. */
static int pack(const uint8_t *bytes, size_t n, uint32_t *sum)
{
	int size = 0;

	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && run < 255 && bytes[i + run] == bytes[i]; run++)
			;
		*sum = (*sum * 31 + bytes[i]) * 31 + (uint32_t)run;
		size += run > 1 ? 2 : 1;
	}
	return size;
}

static uint32_t encode(struct picture *p)
{
	uint32_t sum = 0;
	double percent;
	int size;

	__itt_task_begin(trace.domain, __itt_null, p->id, trace.encode);
	__itt_relation_add_to_current(trace.domain, __itt_relation_is_dependent_on, p->drawn);
	size = pack(&p->out[0][0], sizeof(p->out), &sum);
	percent = 100.0 * size / (double)sizeof(p->out);
	__itt_formatted_metadata_add(trace.domain, trace.packed, size, percent, "raw");
	__itt_task_end(trace.domain);

	__itt_counter_set_value(trace.ratio, &percent);
	__itt_counter_inc(trace.pictures_done);
	return sum;
}

/* Returns what it has seen through result: pictures come in any order, so the sum must not care. */
static void *encoder(void *result)
{
	uint32_t *total = result;
	size_t waiting;
	struct job job;

	__itt_thread_set_name("encoder");
	for (job = take(&to_encode, &waiting); job.picture; job = take(&to_encode, &waiting)) {
		struct picture *p = job.picture;

		*total += encode(p) * (uint32_t)(p->number + 1);
		__itt_frame_end_v3(trace.domain, &p->id);
		__itt_task_end_overlapped(trace.domain, p->id);
		__itt_id_destroy(trace.domain, p->id);
		put(&idle, p, 0);
	}
	return NULL;
}

/* ---- The main thread ------------------------------------------------------------------------ */

static void draw(struct picture *p)
{
	int scene = p->number / SCENE;
	float phase = (float)p->number * 0.3F, scale = (float)(8 + scene * 9);

	__itt_task_begin(trace.domain, p->drawn, p->id, trace.draw);
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			p->in[y][x] = (float)((x * 7 + y * 13) % 16) / 8 +
				      8 * sinf((float)x / scale + phase) * cosf((float)y / scale);
	__itt_task_end(trace.domain);
}

/* The picture's life in the trace begins here and ends in encoder(). */
static void announce(struct picture *p)
{
	int32_t number = p->number;
	char title[32];
	int len = snprintf(title, sizeof(title), "scene %d", p->number / SCENE + 1);

	__itt_id_create(trace.domain, p->id);
	__itt_task_begin_overlapped(trace.domain, p->id, __itt_null, trace.picture);
	__itt_metadata_add(trace.domain, p->id, trace.number, __itt_metadata_s32, 1, &number);
	__itt_metadata_str_add(trace.domain, p->id, trace.title, title, (size_t)len);
	__itt_frame_begin_v3(trace.domain, &p->id);
	if (p->number % SCENE == 0)
		__itt_marker(trace.domain, __itt_null, trace.scene, __itt_marker_scope_process);
}

static void produce(void)
{
	size_t waiting;

	for (int n = 0; n < PICTURES; n++) {
		struct picture *p = take(&idle, &waiting).picture;

		p->number = n;
		p->id = __itt_id_make(p, (unsigned long long)n + 1);
		p->drawn = __itt_id_make(p->in, (unsigned long long)n + 1);
		atomic_store(&p->tiles_left, TILES);
		announce(p);
		draw(p);
		for (int tile = 0; tile < TILES; tile++)
			count_waiting(put(&to_filter, p, tile));
	}
	for (int i = 0; i < IN_FLIGHT; i++) /* until the last one is encoded */
		take(&idle, &waiting);
}

int main(void)
{
	static struct picture pictures[IN_FLIGHT];
	pthread_t threads[WORKERS + 1];
	int numbers[WORKERS];
	uint32_t total = 0;

	name_things();
	__itt_thread_set_name("main");
	for (int i = 0; i < IN_FLIGHT; i++)
		put(&idle, &pictures[i], 0);
	pthread_create(&threads[WORKERS], NULL, encoder, &total);
	for (int i = 0; i < WORKERS; i++) {
		numbers[i] = i + 1;
		pthread_create(&threads[i], NULL, worker, &numbers[i]);
	}

	produce();

	for (int i = 0; i < WORKERS; i++)
		put(&to_filter, NULL, 0);
	put(&to_encode, NULL, 0);
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d pictures, checksum %08x\n", PICTURES, (unsigned int)total);
	return 0;
}
