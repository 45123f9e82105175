import { statfs } from "node:fs/promises"
import { tmpdir } from "node:os"

/** Linux's directory in memory. */
export const memory = "/dev/shm"

/** Bytes that a run needs in memory to be on the safe side; the log may grow to one of these gigabytes. */
const roomy = 4 * 1_024 ** 3

/**
 * The databases are in memory where enough is free: to make and drop one is to make and drop a thousand files, and a disk's
 * file system is most of its cost. A server that is killed finds them there again; only programs may not lie there, which
 * many systems run none from.
 */
export const parentOfDatabases = async (): Promise<string> => {
  const free = await statfs(memory).then(({ bavail, bsize }) => bavail * bsize, () => 0)
  return free >= roomy ? memory : tmpdir()
}
