#include "sample/whose.h"

#include "base/path.h"
#include "model/user_code.h"
#include "sample/prof.h"

static const char *const roots[] = {
	"/usr/lib",        "/lib/",        "/lib64/",        "/usr/include/", "/usr/local/include/",
	"/usr/share/",     "/usr/libexec", "/usr/local/go/", "/rustc/",       "[",
	"/proc/",          "/dev/",        "/opt/intel/",    "/nix/store/",   "/gnu/store/",
	"/usr/local/cuda",
};

/* Libraries of everybody, wherever an environment (conda, modules, spack) has put them. */
static const char *const libraries[] = {
	"libc.so",     "libc-2",      "libm.so",    "libm-2",    "ld-linux", "ld-2",
	"libpthread",  "libdl.so",    "librt.so",   "libstdc++", "libgcc_s", "libgfortran",
	"libquadmath", "libgomp",     "libiomp5",   "libomp.so", "libtbb",   "libmkl_",
	"libopenblas", "libblas",     "libcblas",   "liblapack", "libdnnl",  "libmpi",
	"libcudart",   "libcuda.so",  "libcublas",  "libcudnn",  "libnccl",  "libjemalloc",
	"libtcmalloc", "libmimalloc", "libsycl.so", "libOpenCL", "libze_",   "libtorch",
	"libc10",
};

static const char *const folders[] = { "/node_modules/", "/.cargo/registry/" };

/* Programs that run programs. */
static const char *const interpreters[] = { "python", "libpython", "perl", "ruby", "node",
					    "java",   "bash",      "dash", "sh" };

static bool is_interpreter(struct ut_str path)
{
	const char *base = ut_path_base(path.ptr);

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t len = strlen(interpreters[i]);

		/* "python3.11", "libpython3.so", "sh", and not "shell-of-mine" */
		if (!strncmp(base, interpreters[i], len) &&
		    !strchr("_-", base[len] ? base[len] : '.') &&
		    !((base[len] >= 'a' && base[len] <= 'z') ||
		      (base[len] >= 'A' && base[len] <= 'Z')))
			return true;
	}
	return false;
}

static bool is_well_known(struct ut_str path)
{
	const char *base = ut_path_base(path.ptr);

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		if (ut_str_starts(base, libraries[i]) && strstr(base, ".so"))
			return true;
	}
	return false;
}

/* Code that was typed: python -c, a prompt, a cell of a notebook. Who looks for a line passes it
 * over, because classes are made of such code, too; who looks for time may find all of it there. */
static bool is_typed(struct ut_str path)
{
	return ut_str_is(path, "<string>") || ut_str_is(path, "<stdin>") ||
	       ut_str_has_start(path, "<ipython-input");
}

bool ut_path_is_library(struct ut_str path)
{
	if (is_typed(path))
		return false;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (ut_str_has_start(path, roots[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (ut_str_find(path, folders[i]))
			return true;
	}
	return is_well_known(path) || ut_is_library_file(path);
}

bool ut_prof_is_interpreter(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str module = ut_prof_text(p, f->module);

	/* what imports modules is a script itself, and says as little */
	if (f->module == f->file)
		return ut_str_has_start(module, "<frozen importlib");
	return f->module && is_interpreter(module);
}

bool ut_prof_is_own(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	struct ut_str module = ut_prof_text(p, f->module), file = ut_prof_text(p, f->file);

	if (ut_path_is_library(module) || ut_path_is_library(file) || ut_prof_is_interpreter(p, f))
		return false;
	if (ut_prof_is_script(p, f))
		return true;
	/* what has no path is no file: code made at run time */
	return f->module ? memchr(module.ptr, '/', module.len) != NULL
			 : f->file && memchr(file.ptr, '/', file.len) != NULL;
}

bool ut_prof_is_import(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	return ut_str_is(ut_prof_text(p, f->function), "_find_and_load") &&
	       ut_str_has_start(ut_prof_text(p, f->module), "<frozen importlib");
}

bool ut_prof_is_own_or_import(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	return ut_prof_is_own(p, f) || ut_prof_is_import(p, f);
}

enum ut_prof_owner ut_prof_owner(const struct ut_prof *p, const struct ut_prof_frame *f)
{
	if (ut_prof_is_own(p, f))
		return UT_OWNER_PROGRAM;
	if (ut_str_has_start(ut_prof_text(p, f->module), "[kernel"))
		return UT_OWNER_KERNEL;
	return ut_prof_is_script(p, f) ? UT_OWNER_SCRIPT : UT_OWNER_LIBRARY;
}
