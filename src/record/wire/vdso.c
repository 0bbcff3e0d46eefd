/* vdso.c - see vdso.h. The kernel maps a small library into every process; what it has to offer is
 * found by name. Where there is none (valgrind hides it), the system call does. */
#include "wire/vdso.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__aarch64__)
#define CLOCK_FUNCTION "__kernel_clock_gettime"
#else
#define CLOCK_FUNCTION "__vdso_clock_gettime"
#endif

typedef int clock_function(clockid_t, struct timespec *);

static int by_system_call(clockid_t id, struct timespec *now)
{
	return (int)syscall(SYS_clock_gettime, id, now);
}

static uintptr_t find_in(const char *image, const Elf64_Shdr *symbols, const Elf64_Shdr *strings)
{
	const Elf64_Sym *all = (const Elf64_Sym *)(const void *)(image + symbols->sh_offset);
	const char *names = image + strings->sh_offset;

	for (size_t i = 0; i < symbols->sh_size / sizeof(*all); i++)
		if (all[i].st_name < strings->sh_size && all[i].st_shndx != SHN_UNDEF &&
		    !strcmp(names + all[i].st_name, CLOCK_FUNCTION))
			return (uintptr_t)image + all[i].st_value;
	return 0;
}

static uintptr_t vdso_find(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)image;
	const Elf64_Shdr *sections;
	uintptr_t found = 0;

	if (!image || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || !head->e_shoff)
		return 0;
	sections = (const Elf64_Shdr *)(const void *)(image + head->e_shoff);
	for (unsigned int i = 0; i < head->e_shnum && !found; i++)
		if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < head->e_shnum)
			found = find_in(image, &sections[i], &sections[sections[i].sh_link]);
	return found;
}

void ut_vdso_clock(clockid_t id, struct timespec *now)
{
	static _Atomic(clock_function *) known;
	clock_function *clock = atomic_load_explicit(&known, memory_order_relaxed);

	if (!clock) {
		uintptr_t found = vdso_find();

		clock = found ? (clock_function *)found : by_system_call;
		atomic_store_explicit(&known, clock, memory_order_relaxed);
	}
	if (clock(id, now))
		by_system_call(id, now);
}
