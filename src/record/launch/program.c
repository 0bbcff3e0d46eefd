#include "launch/program.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"

#define LINE         256          /* of a script: its first line */
#define MOST_READ    (1ull << 30) /* of a file that is searched */
#define MOST_HEADERS 512u

static const char itt_variable[] = "INTEL_LIBITTNOTIFY64";

static bool is_python(const char *path)
{
	return ut_str_starts(ut_path_base(path), "python");
}

/* #!/usr/bin/python3 -u, #!/usr/bin/env -S python3 ...: any word of it may be the interpreter. */
static bool names_python(char *line)
{
	bool yes = false;

	line[strcspn(line, "\n")] = '\0';
	while (*line) {
		size_t len = strcspn(line, " \t");
		bool last = !line[len];

		line[len] = '\0';
		yes = yes || is_python(line);
		line += len + !last;
	}
	return yes;
}

/* Is there a loader? map holds size bytes of an ELF file of 64 bits. */
static bool has_loader(const char *map, size_t size)
{
	Elf64_Ehdr head;

	memcpy(&head, map, sizeof(head));
	for (unsigned int i = 0; i < head.e_phnum && i < MOST_HEADERS; i++) {
		uint64_t at = head.e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
		Elf64_Phdr part;

		if (at > size || size - at < sizeof(part))
			break;
		memcpy(&part, map + at, sizeof(part));
		if (part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static void program_look_into(struct ut_program *p, int fd, size_t size)
{
	const unsigned char magic[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64 };
	char *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return;
	if (size >= sizeof(Elf64_Ehdr) && !memcmp(map, magic, sizeof(magic))) {
		p->elf = true;
		p->is_static = !has_loader(map, size);
		p->speaks_itt = memmem(map, size, itt_variable, sizeof(itt_variable)) != NULL;
	}
	munmap(map, size);
}

static void program_look_at(struct ut_program *p, int fd, const struct stat *st)
{
	char line[LINE + 1] = "";
	ssize_t n = pread(fd, line, LINE, 0);

	p->raised = st->st_mode & (S_ISUID | S_ISGID) ||
		    fgetxattr(fd, "security.capability", NULL, 0) > 0;
	p->script = n > 2 && !memcmp(line, "#!", 2);
	if (p->script)
		p->python = names_python(line + 2);
	else if (st->st_size > 0 && (uint64_t)st->st_size <= MOST_READ)
		program_look_into(p, fd, (size_t)st->st_size);
}

void ut_program_look(struct ut_program *p, struct ut_arena *a, const char *name)
{
	struct stat st;
	int code, fd;

	*p = (struct ut_program){ .path = ut_path_find_program(a, name, &code) };
	fd = p->path ? open(p->path, O_RDONLY | O_CLOEXEC) : -1;
	p->python = is_python(name);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		program_look_at(p, fd, &st);
	else if (p->path && !stat(p->path, &st)) /* may be run, but not read */
		p->raised = st.st_mode & (S_ISUID | S_ISGID);
	if (fd >= 0)
		close(fd);
}
