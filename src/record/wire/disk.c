/* disk.c - see disk.h. */
#include "wire/disk.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "wire/clock.h"
#include "wire/spool.h"
#include "wire/sys.h"
#include "wire/text.h"

#define ZEROS 65536u
#define PARTS (UT_CHUNK_MAX / ZEROS)

static char zeros[ZEROS]; /* never written to: one page of the kernel's, many times */

static struct {
	dev_t dev;
	ino_t ino;
	_Atomic int fd; /* may be closed behind our back: see ut_disk_fd() */
	_Atomic bool no_fallocate;
	bool fills;
	char path[4096];
} d = { .fd = -1 };

/* ---- the descriptor ------------------------------------------------------------------------ */

static bool is_our_file(int fd)
{
	struct stat st;

	return fd >= 0 && ut_sys_fstat(fd, &st) == 0 && st.st_dev == d.dev && st.st_ino == d.ino;
}

/*
 * Programs close descriptors that they do not know, and may have reused the number. So it is
 * checked each time, and the file opened again by name if it is no longer ours.
 */
int ut_disk_fd(void)
{
	int fd = atomic_load(&d.fd);

	if (is_our_file(fd))
		return fd;
	fd = ut_sys_open(d.path, O_RDWR | O_CLOEXEC, 0);
	if (is_our_file(fd)) {
		fd = ut_sys_out_of_the_way(fd);
		atomic_store(&d.fd, fd);
		return fd;
	}
	if (fd >= 0)
		ut_sys_close(fd);
	return -ENOENT;
}

int ut_disk_fill_helps(int64_t type, const char *release)
{
	unsigned int numbers[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		for (; *release >= '0' && *release <= '9'; release++)
			numbers[i] = numbers[i] * 10 + (unsigned int)(*release - '0');
		release += *release == '.';
	}
	/* ext4 has had large folios since then; without them zeros cost more than they save. */
	return type == EXT4_SUPER_MAGIC &&
	       (numbers[0] > 6 || (numbers[0] == 6 && numbers[1] >= 16));
}

static bool fill_helps_here(int fd)
{
	struct utsname name;
	struct statfs fs;

	return !ut_sys_fstatfs(fd, &fs) && !ut_sys_uname(&name) &&
	       ut_disk_fill_helps((int64_t)fs.f_type, name.release);
}

/* "DIR/PID-TICKS.spool": the time tells programs apart that one process becomes by exec. */
int ut_disk_make(const char *dir)
{
	struct ut_text text = ut_text_init(d.path, sizeof(d.path));
	struct stat st;
	int fd;

	ut_text_str(&text, dir);
	ut_text_str(&text, "/");
	ut_text_u64(&text, (uint64_t)getpid());
	ut_text_str(&text, "-");
	ut_text_u64(&text, ut_clock_ns(CLOCK_MONOTONIC));
	ut_text_str(&text, UT_SPOOL_SUFFIX);
	if (text.cut)
		return -ENAMETOOLONG;
	fd = ut_sys_open(d.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	fd = ut_sys_out_of_the_way(fd);
	if (ut_sys_fstat(fd, &st)) {
		ut_sys_close(fd);
		return -errno;
	}
	d.fd = fd;
	d.dev = st.st_dev;
	d.ino = st.st_ino;
	d.fills = fill_helps_here(fd);
	return 0;
}

void ut_disk_remove(void)
{
	ut_sys_unlink(d.path);
}

void ut_disk_forget(void)
{
	d.no_fallocate = false;
	if (is_our_file(d.fd))
		ut_sys_close(d.fd);
	d.fd = -1;
}

/* ---- room ---------------------------------------------------------------------------------- */

bool ut_disk_below(int fd, uint64_t reserve, uint64_t bytes)
{
	struct statfs fs;
	uint64_t unit;

	if (!reserve || ut_sys_fstatfs(fd, &fs) || !fs.f_blocks) /* 0: a tmpfs without a limit */
		return false;
	unit = fs.f_frsize ? (uint64_t)fs.f_frsize : (uint64_t)fs.f_bsize;
	return fs.f_bavail * unit < reserve + bytes;
}

static int write_zeros(int fd, uint64_t offset, uint64_t bytes)
{
	while (bytes) {
		ssize_t n = ut_sys_pwrite(fd, zeros, bytes < ZEROS ? bytes : ZEROS, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

/* Past its limit on file sizes a process is killed by SIGXFSZ; so it is never reached. */
static bool within_limit(uint64_t end)
{
	struct rlimit limit;

	return ut_sys_file_limit(&limit) || limit.rlim_cur == RLIM_INFINITY ||
	       end <= limit.rlim_cur;
}

int ut_disk_allocate(int fd, uint64_t offset, uint64_t bytes)
{
	/* tmpfs starts all over when it is interrupted: a fast timer must not keep us here. */
	int rc, tries = 100;

	if (!within_limit(offset + bytes))
		return -EFBIG;
	if (!d.no_fallocate) {
		do {
			rc = ut_sys_fallocate(fd, (off_t)offset, (off_t)bytes);
		} while (rc && errno == EINTR && --tries);
		if (!rc)
			return 0;
		if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR)
			return -errno;
		d.no_fallocate = true;
	}
	return write_zeros(fd, offset, bytes);
}

void ut_disk_fill(uint64_t offset, uint32_t bytes)
{
	struct iovec parts[PARTS];
	int fd, count = 0;

	/* Where there was no fallocate(), the zeros are there. */
	if (!d.fills || d.no_fallocate || !within_limit(offset + bytes))
		return;
	fd = ut_disk_fd();
	if (fd < 0)
		return;
	for (uint32_t left = bytes; left && count < (int)PARTS; count++) {
		parts[count].iov_base = zeros;
		parts[count].iov_len = left < ZEROS ? left : ZEROS;
		left -= (uint32_t)parts[count].iov_len;
	}
	ut_sys_pwritev(fd, parts, count, (off_t)offset);
}

/* ---- other files ----------------------------------------------------------------------------- */

static bool is_plain_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	return name && name[0] && name[0] != '.' && !name[strspn(name, letters)];
}

static int disk_write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = ut_sys_write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int ut_disk_keep(const char *name, const void *bytes, size_t size)
{
	char path[4096 + 64], part[4096 + 80];
	struct ut_text p = ut_text_init(path, sizeof(path)), q = ut_text_init(part, sizeof(part));
	int fd, rc;

	if (!is_plain_name(name) || !d.path[0])
		return -EINVAL;
	ut_text_str(&p, d.path);
	ut_text_str(&p, UT_KEPT_SUFFIX);
	if (ut_sys_mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	ut_text_str(&p, "/");
	ut_text_str(&p, name);
	ut_text_str(&q, path);
	ut_text_str(&q, ".part");
	if (p.cut || q.cut)
		return -ENAMETOOLONG;
	fd = ut_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		fd = ut_sys_open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	else
		return ut_sys_close(fd);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno; /* another thread is writing it */
	rc = disk_write_all(fd, bytes, size);
	ut_sys_close(fd);
	if (!rc && ut_sys_rename(part, path))
		rc = -errno;
	if (rc)
		ut_sys_unlink(part);
	return rc;
}
