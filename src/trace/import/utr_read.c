#include "import/utr_read.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/mapped.h"
#include "import/importer.h"
#include "model/classify.h"
#include "model/device_records.h"
#include "model/event.h"
#include "model/utr.h"
#include "model/utr_crc.h"
#include "text/source.h"

#define FIRST_ROOM ((size_t)1 << 20)

/* The bytes of a file, and where its sections are. */
struct file {
	const char *path;
	char *map;
	size_t map_size; /* for munmap() */
	uint64_t size;
	const struct ut_utr_header *header;
	const struct ut_utr_section *toc;
	const struct ut_utr_section *known[UT_UTR_IDS]; /* by id; NULL = not there */
	struct ut_err *err;
};

static int bad(const struct file *f, uint64_t offset, const char *what)
{
	ut_err_set(f->err, -EPROTO, "%s: offset %" PRIu64 ": %s", f->path, offset, what);
	return -EPROTO;
}

static uint64_t offset_of(const struct file *f, const void *p)
{
	return (uint64_t)((const char *)p - f->map);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static int failed(const struct file *f)
{
	int code = errno;

	ut_err_set(f->err, -code, "%s: %s", f->path, strerror(code));
	return code > 0 ? -code : -EIO;
}

static int map_file(struct file *f, const struct ut_source *source)
{
	struct stat st;
	void *map;

	if (fstat(source->fd, &st))
		return failed(f);
	f->size = (uint64_t)st.st_size;
	if (f->size < sizeof(struct ut_utr_header))
		return bad(f, f->size, "the file ends inside the header of a .utr file");
	map = mmap(NULL, (size_t)f->size, PROT_READ, MAP_PRIVATE, source->fd, 0);
	if (map == MAP_FAILED)
		return failed(f);
	f->map = map;
	f->map_size = (size_t)f->size;
	ut_mapped_add(map, f->map_size, f->path);
	return 0;
}

/* Compressed, or from a pipe: all of it into memory, which is given back as a mapping is. */
static int utr_read_read_file(struct file *f, struct ut_source *source)
{
	size_t room = FIRST_ROOM;
	void *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (map == MAP_FAILED)
		return failed(f);
	f->map = map;
	f->map_size = room;
	while ((n = ut_source_read(source, f->map + f->size, room - f->size, f->err)) > 0) {
		f->size += (uint64_t)n;
		if (f->size < room)
			continue;
		map = mremap(f->map, room, 2 * room, MREMAP_MAYMOVE);
		if (map == MAP_FAILED)
			return failed(f);
		f->map = map;
		f->map_size = room *= 2;
	}
	if (n < 0)
		return (int)n;
	if (f->size < sizeof(struct ut_utr_header))
		return bad(f, f->size, "the file ends inside the header of a .utr file");
	return 0;
}

/* ---- header and table of contents ---------------------------------------------------------- */

static int check_version(const struct file *f)
{
	const struct ut_utr_header *h = f->header;

	if (memcmp(h->magic, UT_UTR_MAGIC, sizeof(h->magic)) != 0)
		return bad(f, 0,
			   "the first bytes of this .utr file were changed, as by a transfer in "
			   "text mode; copy it again");
	if (h->order == __builtin_bswap32(UT_UTR_ORDER))
		return bad(f, offset_of(f, &h->order),
			   "written on a machine with another byte order; export it there as JSON");
	if (h->order != UT_UTR_ORDER)
		return bad(f, offset_of(f, &h->order), "the byte order mark is damaged");
	if (h->major > UT_UTR_MAJOR)
		return ut_err_set(f->err, -EPROTO,
				  "%s: format version %u.%u is newer than %u.%u; read it with a "
				  "newer unitrace",
				  f->path, h->major, h->minor, UT_UTR_MAJOR, UT_UTR_MINOR);
	if (h->major < UT_UTR_FIRST)
		return bad(f, offset_of(f, &h->major), "the format version is 0");
	return 0;
}

static int check_size(const struct file *f)
{
	uint64_t claimed = f->header->file_size;

	if (f->size == claimed)
		return 0;
	return ut_err_set(f->err, -EPROTO,
			  f->size < claimed
				  ? "%s: offset %" PRIu64 ": the file ends here, but has %" PRIu64
				    " bytes by its header; it was cut short: copy it again"
				  : "%s: offset %" PRIu64
				    ": the file ends here, but has only %" PRIu64
				    " bytes by its header; something was appended",
			  f->path, f->size, claimed);
}

static int check_header(struct file *f)
{
	const struct ut_utr_header *h = f->header = (const void *)f->map;
	struct ut_utr_header copy = *h;
	int rc = check_version(f);

	if (rc)
		return rc;
	copy.crc = 0;
	if (ut_utr_crc(0, &copy, sizeof(copy)) != h->crc)
		return bad(f, offset_of(f, &h->crc), "the checksum of the header is wrong");
	return check_size(f);
}

static int find_toc(struct file *f)
{
	const struct ut_utr_header *h = f->header;
	uint64_t room = f->size - sizeof(*h), size;
	struct ut_utr_end end;

	if (h->toc_count > room / sizeof(*f->toc))
		return bad(f, offset_of(f, &h->toc_count), "more sections than fit into the file");
	size = h->toc_count * sizeof(*f->toc);
	if (room < size + sizeof(end) || h->toc_offset != f->size - size - sizeof(end) ||
	    h->toc_offset % UT_UTR_ALIGN)
		return bad(f, offset_of(f, &h->toc_offset), "the table of contents is elsewhere");
	f->toc = (const void *)(f->map + h->toc_offset);
	memcpy(&end, f->map + f->size - sizeof(end), sizeof(end));
	if (memcmp(end.mark, UT_UTR_END, sizeof(end.mark)) != 0)
		return bad(f, f->size - sizeof(end.mark), "the end mark is missing");
	if (ut_utr_crc(0, f->toc, size) != end.crc)
		return bad(f, h->toc_offset, "the checksum of the table of contents is wrong");
	return 0;
}

/* Sections lie one behind the other, so that none reaches into another and no byte is unknown. */
static int check_section(struct file *f, const struct ut_utr_section *s, uint64_t *expected)
{
	const char *wrong = NULL;

	if (s->offset != *expected || s->offset > f->header->toc_offset ||
	    s->size > f->header->toc_offset - s->offset)
		wrong = "a section is not where it should be";
	else if (!s->id)
		wrong = "a section has no number";
	else if (s->id < UT_UTR_IDS && f->known[s->id])
		wrong = "a section is there twice";
	else if (s->size % ut_utr_item(s->id))
		wrong = "a section holds half an item";
	else if (!ut_utr_knows(s->id) && s->flags & UT_UTR_NEEDED)
		wrong = "a section of a newer unitrace is needed to understand this file";
	if (wrong)
		return bad(f, offset_of(f, s), wrong);
	if (s->id < UT_UTR_IDS)
		f->known[s->id] = s;
	*expected = ut_utr_aligned(s->offset + s->size);
	return 0;
}

static int check_toc(struct file *f)
{
	uint64_t expected = sizeof(*f->header);

	for (uint32_t i = 0; i < f->header->toc_count; i++) {
		int rc = check_section(f, &f->toc[i], &expected);

		if (rc)
			return rc;
	}
	if (expected != f->header->toc_offset)
		return bad(f, expected, "there is something between sections and their table");
	for (uint32_t id = 1; id < UT_UTR_IDS; id++) {
		/* The pyramid is there as a whole or not at all; so are stacks and devices. */
		if (!f->known[id] &&
		    (id < UT_UTR_LANES || (ut_utr_is_pyramid(id) && f->known[UT_UTR_LANES]) ||
		     (ut_utr_is_stacks(id) && (f->known[UT_UTR_CODE] || f->known[UT_UTR_STACKS])) ||
		     (ut_utr_is_devices(id) &&
		      (f->known[UT_UTR_DEVICE_WORK] || f->known[UT_UTR_LAUNCHES]))))
			return ut_err_set(f->err, -EPROTO,
					  "%s: offset %" PRIu64 ": no section "
					  "'%s'",
					  f->path, f->header->toc_offset, ut_utr_name(id));
	}
	return 0;
}

/* The items of a section, and how many there are. */
static const void *items(const struct file *f, uint32_t id, uint64_t *count)
{
	const struct ut_utr_section *s = f->known[id];

	assert(s); /* check_toc() has seen it */
	*count = s->size / ut_utr_item(id);
	return f->map + s->offset;
}

/* ---- what the rows refer to ---------------------------------------------------------------- */

static int take_strings(const struct file *f, struct ut_trace *t)
{
	uint64_t count, size;
	const uint64_t *starts = items(f, UT_UTR_STARTS, &count);
	const char *text = items(f, UT_UTR_TEXT, &size);

	if (!count || count - 1 > UT_UTR_STRINGS)
		return bad(f, offset_of(f, starts), "there are too many strings, or none");
	ut_strtab_map(&t->strings, starts, (uint32_t)(count - 1), text, size);
	return 0;
}

static int take_types(const struct file *f, struct ut_types *t)
{
	uint64_t count;
	const struct ut_type *types = items(f, UT_UTR_TYPES, &count);

	if (!count || count > UINT32_MAX)
		return bad(f, offset_of(f, types), "there are too many types, or none");
	for (uint64_t i = 0; i < count; i++) {
		if (types[i].kind >= UT_KIND_COUNT)
			return bad(f, offset_of(f, &types[i]), "a type is of an unknown kind");
	}
	*t = (struct ut_types){ .items = (struct ut_type *)(uintptr_t)types,
				.count = (uint32_t)count };
	return 0;
}

static int take_stacks(const struct file *f, struct ut_trace *t)
{
	struct ut_stacks saved = { 0 };
	uint64_t places, sites;

	if (!f->known[UT_UTR_CODE])
		return 0;
	saved.places = (void *)(uintptr_t)items(f, UT_UTR_CODE, &places);
	saved.sites = (void *)(uintptr_t)items(f, UT_UTR_STACKS, &sites);
	saved.place_count = (size_t)places;
	saved.site_count = (size_t)sites;
	if (ut_stacks_take(&t->stacks, &t->arena, &saved))
		return bad(f, offset_of(f, saved.sites), "a stack whose caller comes after it");
	return 0;
}

static int take_args(const struct file *f, struct ut_trace *t)
{
	uint64_t count;
	const struct ut_arg *args = items(f, UT_UTR_ARGS, &count);

	if (!count || count > UINT32_MAX || args[0].type != UT_ARG_END ||
	    args[count - 1].type != UT_ARG_END)
		return bad(f, offset_of(f, args), "the arguments of the trace do not end");
	for (uint64_t i = 0; i < count; i++) {
		if (args[i].type > UT_ARG_JSON)
			return bad(f, offset_of(f, &args[i]), "an argument is of an unknown type");
	}
	t->args = UT_NEW_N(&t->arena, struct ut_arg, count);
	memcpy(t->args, args, (size_t)count * sizeof(*args));
	t->arg_count = t->arg_cap = (size_t)count;
	return 0;
}

static int take_trace(const struct file *f, struct ut_trace *t, uint64_t *rows)
{
	uint64_t count;
	const struct ut_utr_trace *saved = items(f, UT_UTR_TRACE, &count);

	if (count != 1)
		return bad(f, offset_of(f, saved), "there is not one trace");
	if (saved->global_args >= t->arg_count || saved->file_args >= t->arg_count)
		return bad(f, offset_of(f, &saved->global_args), "arguments that do not exist");
	t->realtime_offset = saved->realtime_offset;
	t->boottime_offset = saved->boottime_offset;
	t->clock_error = saved->clock_error;
	t->first = saved->first;
	t->last = saved->last;
	memcpy(&t->losses, saved->losses, sizeof(t->losses));
	t->global_args = saved->global_args;
	t->file_args = saved->file_args;
	*rows = saved->rows;
	return 0;
}

static int take_processes(const struct file *f, struct ut_trace *t)
{
	uint64_t count;
	const struct ut_utr_process *saved = items(f, UT_UTR_PROCESSES, &count);

	if (count >= UINT32_MAX)
		return bad(f, offset_of(f, saved), "too many processes");
	t->processes = UT_NEW_N(&t->arena, struct ut_process, count);
	t->process_count = t->process_cap = (size_t)count;
	for (uint64_t i = 0; i < count; i++) {
		if (saved[i].args >= t->arg_count)
			return bad(f, offset_of(f, &saved[i]),
				   "a process with arguments that do not exist");
		t->processes[i] = (struct ut_process){ .pid = saved[i].pid,
						       .pid_text = saved[i].pid_text,
						       .name = saved[i].name,
						       .host = saved[i].host,
						       .cmdline = saved[i].cmdline,
						       .rank = saved[i].rank,
						       .sort_index = saved[i].sort_index,
						       .args = saved[i].args,
						       .device = -1,
						       .sub_device = -1 };
	}
	return 0;
}

static void take_notes(const struct file *f, struct ut_trace *t)
{
	uint64_t count;
	const uint32_t *notes = items(f, UT_UTR_NOTES, &count);

	t->notes = UT_NEW_N(&t->arena, uint32_t, count);
	t->note_count = t->note_cap = (size_t)count;
	memcpy(t->notes, notes, (size_t)count * sizeof(*notes));
}

static int take_track(const struct file *f, struct ut_trace *t, const struct ut_utr_track *saved)
{
	struct ut_track *k = &t->tracks[t->track_count];

	if (saved->process >= t->process_count)
		return bad(f, offset_of(f, saved), "a track of a process that does not exist");
	if (saved->type > UT_TRACK_COUNTER)
		return bad(f, offset_of(f, saved), "a track of an unknown type");
	if (saved->args >= t->arg_count)
		return bad(f, offset_of(f, saved), "a track with arguments that do not exist");
	*k = (struct ut_track){ .process = saved->process,
				.name = saved->name,
				.unit = saved->unit,
				.args = saved->args,
				.id_text = saved->id_text,
				.base = saved->base,
				.id = saved->id,
				.sort_index = saved->sort_index,
				.type = (enum ut_track_type)saved->type };
	t->track_count++;
	return 0;
}

static int take_shapes(const struct file *f, struct ut_arglists *l)
{
	uint64_t shapes, args;
	const struct ut_shape *s = items(f, UT_UTR_SHAPES, &shapes);
	const struct ut_shape_arg *a = items(f, UT_UTR_SHAPE_ARGS, &args);

	if (!shapes || shapes > UINT32_MAX || args > UINT32_MAX)
		return bad(f, offset_of(f, s), "there are too many shapes of arguments, or none");
	for (uint64_t i = 0; i < shapes; i++) {
		if (s[i].first > args || s[i].count > args - s[i].first)
			return bad(f, offset_of(f, &s[i]),
				   "a shape of arguments that do not exist");
	}
	for (uint64_t i = 0; i < args; i++) {
		uint8_t type = a[i].form & (uint8_t)~UT_FORM_SHORT;

		if (type == UT_ARG_END || type > UT_ARG_JSON ||
		    (type != a[i].form && type != UT_ARG_U64 && type != UT_ARG_I64))
			return bad(f, offset_of(f, &a[i]), "an argument of an unknown form");
	}
	l->shapes = (struct ut_shape *)(uintptr_t)s;
	l->shape_args = (struct ut_shape_arg *)(uintptr_t)a;
	l->shape_count = (uint32_t)shapes;
	l->shape_arg_count = (uint32_t)args;
	return 0;
}

static int utr_read_take_words(const struct file *f, struct ut_arglists *l)
{
	uint64_t count;
	const uint32_t *words = items(f, UT_UTR_WORDS, &count);

	if (count > UINT32_MAX)
		return bad(f, offset_of(f, words), "more arguments than can be told apart");
	if (!count)
		return 0;
	l->chunk_count = (size_t)((count - 1) / UT_ARG_CHUNK + 1);
	l->used = l->most = (uint32_t)(count - (l->chunk_count - 1) * (uint64_t)UT_ARG_CHUNK);
	l->chunks = ut_make(l->chunk_count * sizeof(*l->chunks));
	for (size_t i = 0; i < l->chunk_count; i++)
		l->chunks[i] = (uint32_t *)(uintptr_t)(words + i * UT_ARG_CHUNK);
	return 0;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void utr_read_lay_out(struct ut_rows *rows, const char *at)
{
	uint64_t left = rows->count;

	if (!left)
		return;
	rows->blocks = ut_make(ut_rows_blocks(rows) * sizeof(*rows->blocks));
	for (size_t i = 0; left; i++) {
		struct ut_block *b = &rows->blocks[i];

		b->count = left < UT_BLOCK_ROWS ? (uint32_t)left : UT_BLOCK_ROWS;
		b->ts = (const uint64_t *)(const void *)at;
		b->val = b->ts + b->count;
		b->type = (const uint32_t *)(const void *)(b->val + b->count);
		b->args = b->type + b->count;
		at += (size_t)b->count * UT_UTR_ROW;
		left -= b->count;
	}
}

static int take_tracks(const struct file *f, struct ut_store *s, uint64_t rows)
{
	uint64_t count, left;
	const struct ut_utr_track *saved = items(f, UT_UTR_TRACKS, &count);
	const char *at = items(f, UT_UTR_ROWS, &left);

	if (count >= UINT32_MAX)
		return bad(f, offset_of(f, saved), "too many tracks");
	if (left != rows)
		return bad(f, offset_of(f, at), "there are not as many rows as the trace has");
	s->trace.tracks = UT_NEW_N(&s->trace.arena, struct ut_track, count);
	s->trace.track_cap = (size_t)count;
	s->rows = ut_make(((size_t)count + 1) * sizeof(*s->rows));
	s->row_count = rows;
	for (uint64_t i = 0; i < count; i++) {
		int rc = take_track(f, &s->trace, &saved[i]);

		if (rc)
			return rc;
		if (saved[i].rows > left)
			return bad(f, offset_of(f, &saved[i]), "a track has rows behind the end");
		s->rows[i] = (struct ut_rows){ .count = saved[i].rows,
					       .first = saved[i].first,
					       .last = saved[i].last };
		utr_read_lay_out(&s->rows[i], at);
		at += saved[i].rows * UT_UTR_ROW;
		left -= saved[i].rows;
	}
	return left ? bad(f, offset_of(f, at), "rows that belong to no track") : 0;
}

/* ---- places -------------------------------------------------------------------------------- */

static struct ut_api_id take_api(uint8_t api, uint32_t text)
{
	/* one that a newer version knows is one that has no name here */
	return (struct ut_api_id){ .api = api < UT_APIS ? api : UT_API_OTHER, .text = text };
}

static int take_process_places(const struct file *f, struct ut_trace *t)
{
	const struct ut_utr_process_place *saved;
	uint64_t count;

	if (!f->known[UT_UTR_PROCESS_PLACES])
		return 0;
	saved = items(f, UT_UTR_PROCESS_PLACES, &count);
	if (count != t->process_count)
		return bad(f, offset_of(f, saved), "places of other processes than there are");
	for (uint64_t i = 0; i < count; i++) {
		struct ut_process *p = &t->processes[i];

		p->kind = saved[i].kind < UT_PROCESS_KINDS ? saved[i].kind : UT_PROCESS_OTHER;
		p->device_type = saved[i].device_type < UT_DEVICE_TYPES ? saved[i].device_type
									: UT_DEVICE_TYPE_UNKNOWN;
		p->guessed = saved[i].guessed != 0;
		p->api = take_api(saved[i].api, saved[i].api_text);
		p->model = saved[i].model;
		p->device = saved[i].device;
		p->sub_device = saved[i].sub_device;
		p->title = saved[i].title;
	}
	return 0;
}

static int take_track_places(const struct file *f, struct ut_trace *t)
{
	const struct ut_utr_track_place *saved;
	uint64_t count;

	if (!f->known[UT_UTR_TRACK_PLACES])
		return 0;
	saved = items(f, UT_UTR_TRACK_PLACES, &count);
	if (count != t->track_count)
		return bad(f, offset_of(f, saved), "places of other tracks than there are");
	for (uint64_t i = 0; i < count; i++) {
		struct ut_track *k = &t->tracks[i];

		k->role = saved[i].role < UT_ROLES ? saved[i].role : UT_ROLE_UNKNOWN;
		k->guessed = saved[i].guessed != 0;
		k->api = take_api(saved[i].api, saved[i].api_text);
		k->thread = saved[i].thread;
	}
	return 0;
}

static void take_calls(const struct file *f, struct ut_trace *t)
{
	const uint32_t *saved;
	uint64_t count;

	if (!f->known[UT_UTR_CALLS])
		return;
	saved = items(f, UT_UTR_CALLS, &count);
	for (uint64_t i = 0; i < count; i++)
		ut_classify_add_calls(t, saved[i]);
}

static int take_places(const struct file *f, struct ut_trace *t)
{
	int rc = take_process_places(f, t);

	rc = rc ? rc : take_track_places(f, t);
	if (!rc)
		take_calls(f, t);
	return rc;
}

/* ---- the pyramid --------------------------------------------------------------------------- */

/* What the lanes have not used yet. */
struct lane_parts {
	const struct ut_node *nodes;
	const uint32_t *rows;
	const uint64_t *ends;
	uint64_t node_count, row_count, end_count;
};

static int take_lane(const struct file *f, const struct ut_store *s, struct lane_parts *p,
		     const struct ut_utr_lane *saved)
{
	struct ut_lanes *lanes = &s->pyramid->tracks[saved->track];
	struct ut_lane *l = &lanes->lanes[lanes->count++];
	uint64_t rows = s->rows[saved->track].count, nodes = ut_lane_nodes(saved->count);
	bool has_rows = saved->flags & UT_UTR_HAS_ROWS, has_ends = saved->flags & UT_UTR_HAS_ENDS;

	if (!saved->count || saved->count > rows || nodes > p->node_count ||
	    (has_rows && saved->count > p->row_count) || (has_ends && saved->count > p->end_count))
		return bad(f, offset_of(f, saved), "a lane has entries that do not exist");
	if (saved->kind >= UT_LANE_KINDS || has_ends != (saved->kind == UT_LANE_ASYNC))
		return bad(f, offset_of(f, saved), "a lane of an unknown kind");
	*l = (struct ut_lane){ .count = saved->count,
			       .nodes = p->nodes,
			       .rows = has_rows ? p->rows : NULL,
			       .ends = has_ends ? p->ends : NULL,
			       .kind = saved->kind };
	p->nodes += nodes;
	p->node_count -= nodes;
	p->rows += has_rows ? saved->count : 0;
	p->row_count -= has_rows ? saved->count : 0;
	p->ends += has_ends ? saved->count : 0;
	p->end_count -= has_ends ? saved->count : 0;
	return 0;
}

/* Room for the lanes of each track, which come one after the other. */
static int count_lanes(const struct file *f, const struct ut_store *s,
		       const struct ut_utr_lane *saved, uint64_t count)
{
	for (uint64_t i = 0, end; i < count; i = end) {
		uint32_t track = saved[i].track;

		for (end = i; end < count && saved[end].track == track;)
			end++;
		if (track >= s->trace.track_count || s->pyramid->tracks[track].lanes ||
		    end - i > UINT32_MAX)
			return bad(f, offset_of(f, &saved[i]), "a lane of a track that is not it");
		s->pyramid->tracks[track].lanes =
			ut_make((size_t)(end - i) * sizeof(struct ut_lane));
	}
	return 0;
}

static int take_pyramid(const struct file *f, struct ut_store *s)
{
	const struct ut_utr_lane *saved;
	struct lane_parts parts;
	uint64_t count;
	int rc;

	if (!f->known[UT_UTR_LANES])
		return 0;
	saved = items(f, UT_UTR_LANES, &count);
	parts.nodes = items(f, UT_UTR_NODES, &parts.node_count);
	parts.rows = items(f, UT_UTR_LANE_ROWS, &parts.row_count);
	parts.ends = items(f, UT_UTR_LANE_ENDS, &parts.end_count);
	s->pyramid = ut_make(sizeof(*s->pyramid));
	s->pyramid->mapped = true;
	s->pyramid->track_count = s->trace.track_count;
	s->pyramid->tracks = ut_make((s->trace.track_count + 1) * sizeof(struct ut_lanes));
	rc = count_lanes(f, s, saved, count);
	for (uint64_t i = 0; !rc && i < count; i++)
		rc = take_lane(f, s, &parts, &saved[i]);
	return rc;
}

/* ---- work of devices ----------------------------------------------------------------------- */

/* Whether each record fits is seen when they are used, or now if all of the file is checked. */
static int take_devices(const struct file *f, struct ut_store *s, bool checked)
{
	struct ut_device_records *r;
	uint64_t records, launches;
	const void *columns;
	size_t wrong;

	if (!f->known[UT_UTR_DEVICE_WORK])
		return 0;
	columns = items(f, UT_UTR_DEVICE_WORK, &records);
	s->saved_devices = r = ut_make(sizeof(*r));
	r->launches = items(f, UT_UTR_LAUNCHES, &launches);
	r->launch_count = (size_t)launches;
	ut_device_records_map(r, columns, (size_t)records);
	wrong = checked ? ut_device_records_check(r, s) : SIZE_MAX;
	return wrong == SIZE_MAX
		       ? 0
		       : bad(f, offset_of(f, &r->kind[wrong]), "work of a device that fits no row");
}

/* ---- the file ------------------------------------------------------------------------------ */

static int read_toc(struct file *f)
{
	int rc = check_header(f);

	rc = rc ? rc : find_toc(f);
	return rc ? rc : check_toc(f);
}

static int check_sums(const struct file *f)
{
	for (uint32_t i = 0; i < f->header->toc_count; i++) {
		const struct ut_utr_section *s = &f->toc[i];
		uint64_t padded = ut_utr_aligned(s->offset + s->size) - s->offset;

		if (ut_utr_crc(0, f->map + s->offset, (size_t)padded) != s->crc)
			return ut_err_set(
				f->err, -EPROTO,
				"%s: offset %" PRIu64 ": the checksum of section '%s' "
				"(%" PRIu64
				" bytes) is wrong; the file is damaged: copy or make it again",
				f->path, s->offset, ut_utr_name(s->id), s->size);
	}
	return 0;
}

static int fill_store(const struct file *f, struct ut_store *s, bool checked)
{
	uint64_t rows = 0;
	int rc = take_strings(f, &s->trace);

	take_notes(f, &s->trace);
	rc = rc ? rc : take_types(f, &s->types);
	rc = rc ? rc : take_stacks(f, &s->trace);
	rc = rc ? rc : take_args(f, &s->trace);
	rc = rc ? rc : take_trace(f, &s->trace, &rows);
	rc = rc ? rc : take_processes(f, &s->trace);
	rc = rc ? rc : take_shapes(f, &s->args);
	rc = rc ? rc : utr_read_take_words(f, &s->args);
	rc = rc ? rc : take_tracks(f, s, rows);
	rc = rc ? rc : take_places(f, &s->trace);
	rc = rc ? rc : take_devices(f, s, checked);
	return rc ? rc : take_pyramid(f, s);
}

/* rc: whether the file is there at all. */
static int open_mapped(struct file *f, int rc, bool checked, struct ut_store *store)
{
	*store = (struct ut_store){ .map = f->map, .map_size = f->map_size };
	ut_strtab_set_arena(&store->trace.strings, &store->trace.arena);
	rc = rc ? rc : read_toc(f);
	if (!rc && checked)
		rc = check_sums(f);
	rc = rc ? rc : fill_store(f, store, checked);
	if (rc)
		ut_store_release(store);
	return rc;
}

int ut_utr_open_memory(const char *path, void *map, size_t size, struct ut_store *store,
		       struct ut_err *err)
{
	struct file f = { .path = path, .map = map, .map_size = size, .size = size, .err = err };
	int rc = size < sizeof(struct ut_utr_header)
			 ? bad(&f, size, "the file ends inside the header of a .utr file")
			 : 0;

	return open_mapped(&f, rc, false, store);
}

static bool utr_read_probe(const char *head, size_t len)
{
	return len >= 4 && !memcmp(head, UT_UTR_MAGIC, 4);
}

static int utr_read_load(struct ut_source *source, const struct ut_import_opts *opts,
			 struct ut_store *store, struct ut_err *err)
{
	struct file f = { .path = source->path, .err = err };
	int rc = source->seekable ? map_file(&f, source) : utr_read_read_file(&f, source);

	rc = open_mapped(&f, rc, opts->checked || f.size <= UT_UTR_QUICK, store);
	if (!rc && opts->progress)
		atomic_fetch_add(opts->progress, f.size);
	return rc;
}

const struct ut_importer ut_import_utr = { "utr", utr_read_probe, utr_read_load };
