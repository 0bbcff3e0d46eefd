/* unwind_file.c - the file of unwind.h: its parts, and where the table of its functions is. */
#include "symbol/unwind.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_SEGMENTS 64u
#define MOST_TABLE    (UINT64_C(512) << 20) /* bytes; the largest known libraries have 10 MB */
#define MOST_NOTE     4096u
#define MOST_RECORD   65536u /* bytes of a description; most have some 50 */
#define FIRST_READ    512u

/* A copy: the file may be written to by whoever made it. */
static const uint8_t *copy_record(const struct ut_unwind *u, uint64_t offset, unsigned int which,
				  size_t *len)
{
	static _Thread_local uint8_t rooms[2][MOST_RECORD];
	uint8_t *to = rooms[which & 1];
	size_t got = ut_unwind_read(u, offset, to, FIRST_READ);
	uint32_t said;

	if (got < sizeof(said))
		return NULL;
	memcpy(&said, to, sizeof(said));
	if (said > MOST_RECORD - sizeof(said))
		return NULL;
	*len = said + sizeof(said);
	if (*len > got && ut_unwind_read(u, offset, to, *len) < *len)
		return NULL;
	return to;
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool read_id(struct ut_unwind *u, const Elf64_Phdr *p)
{
	_Alignas(8) char notes[MOST_NOTE];
	size_t len = p->p_filesz < sizeof(notes) ? (size_t)p->p_filesz : sizeof(notes);

	len = ut_unwind_read(u, p->p_offset, notes, len);
	return ut_elf_note_id(notes, len, &u->id);
}

static void read_table(struct ut_unwind *u, const Elf64_Phdr *p)
{
	uint8_t head[UT_UNWIND_HEAD];
	size_t count, got;

	if (ut_unwind_read(u, p->p_offset, head, sizeof(head)) != sizeof(head))
		return;
	count = ut_unwind_pairs(head);
	if (p->p_filesz < sizeof(head) || p->p_filesz > MOST_TABLE ||
	    count > (p->p_filesz - sizeof(head)) / 8 || !count)
		return;
	u->own_table = malloc(count * 8);
	if (!u->own_table)
		return;
	got = ut_unwind_read(u, p->p_offset + sizeof(head), u->own_table, count * 8);
	u->table = u->own_table;
	u->count = got / 8;
	u->hdr = p->p_vaddr;
}

static void unwind_file_add_part(struct ut_unwind *u, const Elf64_Phdr *p)
{
	if (u->part_count < UT_UNWIND_PARTS && p->p_filesz)
		u->parts[u->part_count++] =
			(struct ut_unwind_part){ p->p_offset, p->p_filesz, p->p_vaddr };
}

static bool read_segments(struct ut_unwind *u)
{
	Elf64_Phdr segments[MOST_SEGMENTS];
	Elf64_Ehdr h;
	size_t count;

	if (ut_unwind_read(u, 0, &h, sizeof(h)) != sizeof(h) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	count = h.e_phnum < MOST_SEGMENTS ? h.e_phnum : MOST_SEGMENTS;
	count = ut_unwind_read(u, h.e_phoff, segments, count * sizeof(*segments)) /
		sizeof(*segments);
	for (size_t i = 0; i < count; i++) {
		if (segments[i].p_type == PT_LOAD)
			unwind_file_add_part(u, &segments[i]);
		else if (segments[i].p_type == PT_NOTE && !u->id.len)
			read_id(u, &segments[i]);
		else if (segments[i].p_type == PT_GNU_EH_FRAME && !u->table &&
			 h.e_machine == EM_X86_64)
			read_table(u, &segments[i]);
	}
	if (!u->table && u->fd >= 0)
		ut_unwind_scan(u);
	return true;
}

bool ut_unwind_open(struct ut_unwind *u, int fd)
{
	struct stat st;

	*u = (struct ut_unwind){ .fd = fd, .record = copy_record };
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		u->size = (uint64_t)st.st_size;
		if (read_segments(u))
			return true;
	}
	ut_unwind_close(u);
	return false;
}

bool ut_unwind_open_memory(struct ut_unwind *u, const void *base, size_t size)
{
	*u = (struct ut_unwind){
		.fd = -1, .base = base, .size = size, .record = ut_unwind_in_place
	};
	if (read_segments(u))
		return true;
	ut_unwind_close(u);
	return false;
}

void ut_unwind_close(struct ut_unwind *u)
{
	if (u->fd >= 0 && u->size)
		close(u->fd);
	free(u->own_table);
	*u = (struct ut_unwind){ .fd = -1 };
}
