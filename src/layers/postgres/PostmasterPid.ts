import { execFile } from "node:child_process"
import { readFile, readlink, realpath, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { systemCode } from "./EmbeddedPgError.ts"

export interface Postmaster {
  readonly pid: number
  /** Seconds since 1970. */
  readonly startedAt: number
  readonly port: number
  readonly status: string
}

export const readPostmaster = async (data: string): Promise<Postmaster | undefined> => {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")
  const lines = text.split("\n").map((line) => line.trim())
  const pid = Math.abs(Number(lines[0] ?? ""))
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined
  return { pid, startedAt: Number(lines[2] ?? 0), port: Number(lines[3] ?? 0), status: lines[7] ?? "" }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === "EPERM"
  }
}

const commandOf = async (pid: number): Promise<string | undefined> => {
  if (process.platform === "linux") {
    const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined)
    return text?.split("\0")[0]
  }
  if (process.platform === "win32") return undefined
  return new Promise((resolve) =>
    execFile(
      "ps",
      ["-o", "comm=", "-p", String(pid)],
      (error, stdout) => resolve(error === null ? stdout.trim() : undefined)
    )
  )
}

/** A server works inside its data directory. Unknown (no right to look) counts as yes. */
const worksIn = async (pid: number, data: string): Promise<boolean> => {
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return place === undefined || place === await realpath(data).catch(() => data)
}

const isServer = async (pid: number, data: string): Promise<boolean> => {
  const command = await commandOf(pid)
  if (command === undefined) return isAlive(pid)
  return /^(postgres|postmaster)/.test(basename(command)) && await worksIn(pid, data)
}

/**
 * The server of the directory. Removes a `postmaster.pid` whose id belongs to another program: the server would refuse
 * to start. A file without a process stays: the server also checks its shared memory, against orphaned backends.
 */
export const findRunning = async (data: string): Promise<Postmaster | undefined> => {
  const postmaster = await readPostmaster(data)
  if (postmaster === undefined || !isAlive(postmaster.pid)) return undefined
  if (await isServer(postmaster.pid, data)) return postmaster
  if (isAlive(postmaster.pid)) await rm(join(data, "postmaster.pid"), { force: true })
  return undefined
}
