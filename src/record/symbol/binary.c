#include "symbol/binary.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "symbol/debug_file.h"
#include "symbol/dwarf.h"
#include "symbol/elf_file.h"
#include "symbol/symbols.h"
#include "symbol/unwind.h"

/* How a file is known: by its build id, else by what the file system says of it. */
struct key {
	struct ut_build_id id;
	uint64_t device, inode, size, changed;
};

struct ut_binary {
	struct key key;
	struct ut_elf file, debug;
	struct ut_symbols *symbols;
	struct ut_dwarf *dwarf; /* NULL = there are no lines */
	struct ut_unwind unwind;
	bool addresses; /* what is asked for are addresses, not offsets in a file */
	pthread_mutex_t lock;
};

static struct {
	pthread_mutex_t lock;
	struct ut_binary **items;
	size_t count, cap;
	struct ut_hashtab by_key;
	struct ut_binary *kernel, *vdso;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- opening --------------------------------------------------------------------------------- */

static struct ut_binary *binary_make(void)
{
	struct ut_binary *c = ut_make(sizeof(*c));

	c->unwind.fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/* Names, lines and tables of a file that is open. */
static void binary_fill(struct ut_binary *c, const char *path)
{
	bool stripped =
		!ut_elf_section(&c->file, ".symtab") || !(ut_elf_section(&c->file, ".debug_info") ||
							  ut_elf_section(&c->file, ".zdebug_info"));
	char found[PATH_MAX];
	bool separate =
		stripped && ut_debug_file_open(&c->file, path, &c->debug, found, sizeof(found));
	int fd;

	c->symbols = ut_symbols_of(&c->file, separate ? &c->debug : NULL);
	c->dwarf = ut_dwarf_open(&c->file, path, path);
	if (!c->dwarf && separate)
		c->dwarf = ut_dwarf_open(&c->debug, found, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !ut_unwind_open(&c->unwind, fd))
		close(fd);
}

static bool binary_same_key(const struct key *a, const struct key *b)
{
	if (a->id.len || b->id.len)
		return a->id.len == b->id.len && !memcmp(a->id.bytes, b->id.bytes, a->id.len);
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed == b->changed;
}

static struct key binary_key_of(const struct ut_elf *e, const char *path)
{
	struct key k = { .id = ut_elf_build_id(e), .size = e->size };
	struct stat st;

	if (!k.id.len && !stat(path, &st)) {
		k.device = st.st_dev;
		k.inode = st.st_ino;
		k.changed =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	}
	return k;
}

/* The one of this key, which is made of *e if it is new; *e is used up. */
static struct ut_binary *binary_keep(struct ut_elf *e, const char *path)
{
	struct key key = binary_key_of(e, path);
	uint32_t hash = key.id.len ? (uint32_t)ut_hash_bytes(key.id.bytes, key.id.len)
				   : (uint32_t)(key.inode * 31 + key.changed);
	uint32_t at = hash, number;
	struct ut_binary *c;

	while ((number = ut_hashtab_next(&known.by_key, hash, &at)) &&
	       !binary_same_key(&known.items[number - 1]->key, &key))
		;
	if (number) {
		ut_elf_close(e);
		return known.items[number - 1];
	}
	c = binary_make();
	c->key = key;
	c->file = *e;
	binary_fill(c, path);
	known.items = ut_grow(known.items, known.count + 1, &known.cap, sizeof(struct ut_binary *));
	known.items[known.count++] = c;
	ut_hashtab_add(&known.by_key, hash, (uint32_t)known.count);
	return c;
}

struct ut_binary *ut_binary_open(const char *path, const struct ut_build_id *id)
{
	struct ut_binary *c = NULL;
	struct ut_build_id own;
	struct ut_elf e;

	if (!ut_elf_open(&e, path))
		return NULL;
	own = ut_elf_build_id(&e);
	if (id && id->len && (own.len != id->len || memcmp(own.bytes, id->bytes, id->len) != 0)) {
		ut_elf_close(&e);
		return NULL;
	}
	pthread_mutex_lock(&known.lock);
	c = binary_keep(&e, path);
	pthread_mutex_unlock(&known.lock);
	return c;
}

static struct ut_binary *special(struct ut_binary **which, struct ut_symbols *(*open)(void),
				 bool addresses)
{
	pthread_mutex_lock(&known.lock);
	if (!*which) {
		*which = binary_make();
		(*which)->symbols = open();
		(*which)->addresses = addresses;
	}
	pthread_mutex_unlock(&known.lock);
	return *which;
}

struct ut_binary *ut_binary_kernel(void)
{
	return special(&known.kernel, ut_symbols_open_kernel, true);
}

uint64_t ut_binary_kernel_text(void)
{
	return ut_symbols_text(ut_binary_kernel()->symbols);
}

struct ut_binary *ut_binary_vdso(void)
{
	return special(&known.vdso, ut_symbols_open_vdso, false);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static size_t find_lines(struct ut_binary *c, uint64_t offset, struct ut_binary_frame *frames)
{
	struct ut_dwarf_frame found[UT_BINARY_FRAMES];
	uint64_t address;
	size_t count;

	if (!c->dwarf || !ut_elf_address(&c->file, offset, &address))
		return 0;
	pthread_mutex_lock(&c->lock);
	count = ut_dwarf_find(c->dwarf, address, found, UT_BINARY_FRAMES);
	pthread_mutex_unlock(&c->lock);
	for (size_t i = 0; i < count; i++)
		frames[i] =
			(struct ut_binary_frame){ found[i].function, found[i].file, found[i].line };
	return count;
}

/* The symbol tells the name of the function that is really there; it knows its whole name. */
size_t ut_binary_find(struct ut_binary *c, uint64_t offset, struct ut_binary_frame *frames)
{
	size_t count = find_lines(c, offset, frames);
	struct ut_symbol symbol;

	if (c->symbols && ut_symbols_find(c->symbols, offset, &symbol)) {
		if (!count)
			frames[count++] = (struct ut_binary_frame){ 0 };
		frames[count - 1].function = symbol.name;
	}
	return count;
}

bool ut_binary_start(struct ut_binary *c, uint64_t offset, uint64_t *start)
{
	return ut_unwind_start(&c->unwind, offset, start);
}

bool ut_binary_has_lines(struct ut_binary *c)
{
	return c->dwarf != NULL;
}

bool ut_binary_body(struct ut_binary *c, uint64_t offset, struct ut_binary_body *body)
{
	struct ut_symbol symbol;

	if (!c->symbols || c->addresses || !c->file.size ||
	    !ut_symbols_find(c->symbols, offset, &symbol) || !symbol.size ||
	    !ut_elf_offset(&c->file, symbol.start, &body->offset) || body->offset > c->file.size ||
	    symbol.size > c->file.size - body->offset)
		return false;
	body->bytes = (const uint8_t *)c->file.base + body->offset;
	body->size = symbol.size;
	return true;
}

unsigned int ut_binary_machine(const struct ut_binary *c)
{
	return c->file.size ? ut_elf_header(&c->file)->e_machine : 0;
}
