/*
 * steps.c - does what its words say, one after the other:
 *
 *   task N  begin N  end  other N (a task in another domain)  otherend  many N (numbered "many 0")
 *   pause  resume  detach  ignore  name N  overlap N  overlapend N  event N  eventend N
 *   setenv V  keepenv V (setenv without overwrite)  putenv V  unsetenv  clearenv   (of the variable
 *   PTI_ENABLE_COLLECTION)  say TEXT  wait (for a line on stdin)  sleep MS  fork (the rest is done
 *   by a child, then "joined" is recorded by the parent)  thread (the rest, by a thread)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ittnotify.h>

#define VARIABLE "PTI_ENABLE_COLLECTION"

static __itt_domain *domain, *other;

static void begin(__itt_domain *d, const char *name)
{
	__itt_task_begin(d, __itt_null, __itt_null, __itt_string_handle_create(name));
}

static void task(__itt_domain *d, const char *name)
{
	begin(d, name);
	__itt_task_end(d);
}

static void many(int count)
{
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "many %d", i);
		task(domain, name);
	}
}

static __itt_id id_of(const char *value)
{
	return __itt_id_make(&domain, strtoull(value, NULL, 10));
}

static int event_of(const char *value)
{
	return __itt_event_create(value, (int)strlen(value));
}

/* Steps that take a value. False if there is no such step. */
static int with_value(const char *word, char *value)
{
	static char variable[64];

	if (!strcmp(word, "task"))
		task(domain, value);
	else if (!strcmp(word, "begin"))
		begin(domain, value);
	else if (!strcmp(word, "other"))
		begin(other, value);
	else if (!strcmp(word, "many"))
		many(atoi(value));
	else if (!strcmp(word, "name"))
		__itt_thread_set_name(value);
	else if (!strcmp(word, "overlap"))
		__itt_task_begin_overlapped(domain, id_of(value), __itt_null,
					    __itt_string_handle_create(value));
	else if (!strcmp(word, "overlapend"))
		__itt_task_end_overlapped(domain, id_of(value));
	else if (!strcmp(word, "event"))
		__itt_event_start(event_of(value));
	else if (!strcmp(word, "eventend"))
		__itt_event_end(event_of(value));
	else if (!strcmp(word, "setenv") || !strcmp(word, "keepenv"))
		setenv(VARIABLE, value, word[0] == 's');
	else if (!strcmp(word, "putenv") &&
		 snprintf(variable, sizeof(variable), VARIABLE "=%s", value) > 0)
		putenv(variable);
	else if (!strcmp(word, "say"))
		printf("%s\n", value), fflush(stdout);
	else if (!strcmp(word, "sleep"))
		usleep((useconds_t)atoi(value) * 1000);
	else
		return 0;
	return 1;
}

static void alone(const char *word)
{
	char line[64];

	if (!strcmp(word, "end"))
		__itt_task_end(domain);
	else if (!strcmp(word, "otherend"))
		__itt_task_end(other);
	else if (!strcmp(word, "pause"))
		__itt_pause();
	else if (!strcmp(word, "resume"))
		__itt_resume();
	else if (!strcmp(word, "detach"))
		__itt_detach();
	else if (!strcmp(word, "ignore"))
		__itt_thread_ignore();
	else if (!strcmp(word, "unsetenv"))
		unsetenv(VARIABLE);
	else if (!strcmp(word, "clearenv"))
		clearenv();
	else if (!strcmp(word, "wait") && !fgets(line, sizeof(line), stdin))
		exit(98);
}

static void *steps(void *arg)
{
	char **words = arg;
	pthread_t thread;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], "thread")) {
			if (!pthread_create(&thread, NULL, steps, words + i + 1))
				pthread_join(thread, NULL);
			break;
		}
		if (!strcmp(words[i], "fork")) {
			if (!fork()) {
				steps(words + i + 1);
				exit(0);
			}
			wait(NULL);
			task(domain, "joined");
			break;
		}
		if (words[i + 1] && with_value(words[i], words[i + 1]))
			i++;
		else
			alone(words[i]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(600); /* whatever goes wrong, we do not stay */
	domain = __itt_domain_create("steps");
	other = __itt_domain_create("steps.other");
	steps(argv + 1);
	return 0;
}
