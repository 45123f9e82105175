import { randomUUID } from "node:crypto"
import { link, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { EmbeddedPgError, systemCode } from "./EmbeddedPgError.ts"
import { isAlive } from "./PostmasterPid.ts"

/** Process ids are reused; with their start time they are not (Linux; elsewhere empty). */
const startedAt = async (pid: number): Promise<string> => {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? ""
}

const isHeld = async (holder: string): Promise<boolean> => {
  const [pid = "", started = ""] = holder.split(" ")
  return isAlive(Number(pid)) && (started === "" || await startedAt(Number(pid)) === started)
}

const removeDead = async (lock: string, holder: string): Promise<void> => {
  const aside = `${lock}.${randomUUID()}`
  await rename(lock, aside).catch((error: unknown) => {
    if (systemCode(error) !== "ENOENT") throw error
  })
  const taken = await readFile(aside, "utf8").catch(() => holder)
  if (taken !== holder) await link(aside, lock).catch(() => undefined)
  await rm(aside, { force: true })
}

/**
 * Runs `body` while no other process starts a server in the directory. Takes over the lock of a dead process. Fails
 * with Timeout after `timeoutMs`.
 */
export const withStartLock = async <A>(directory: string, timeoutMs: number, body: () => Promise<A>): Promise<A> => {
  const lock = join(directory, "start.lock")
  const mine = `${process.pid} ${await startedAt(process.pid)} ${randomUUID()}`
  const own = `${lock}.${randomUUID()}`
  const deadline = Date.now() + timeoutMs
  await writeFile(own, mine, { mode: 0o600 })
  try {
    for (;;) {
      // A link appears with its whole content: a reader never sees an empty lock.
      const taken = await link(own, lock).then(() => true, (error: unknown) => {
        if (systemCode(error) !== "EEXIST") throw error
        return false
      })
      if (taken) break
      const holder = await readFile(lock, "utf8").catch(() => undefined)
      if (holder !== undefined && !await isHeld(holder)) await removeDead(lock, holder)
      else if (Date.now() > deadline) {
        throw new EmbeddedPgError(
          "Timeout",
          `Another process (${holder?.split(" ")[0]}) has been starting the server in ${directory} for ${timeoutMs} ms.`
        )
      } else await pause(20)
    }
  } finally {
    await rm(own, { force: true })
  }
  try {
    return await body()
  } finally {
    if (await readFile(lock, "utf8").catch(() => "") === mine) await rm(lock, { force: true })
  }
}
