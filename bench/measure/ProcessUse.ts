import { readdir, readFile } from "node:fs/promises"

/** What processes used in a stretch: CPU in milliseconds, and how often they went to sleep to wait for something. */
export interface ProcessUse {
  readonly cpuMs: number
  readonly waits: number
}

/** What processes have used so far; the waits by process, since those of one that ends are gone with it. */
export interface ProcessTotals {
  readonly cpuMs: number
  readonly waits: ReadonlyMap<number, number>
}

/** Linux counts CPU in ticks of 10 ms. */
const tickMs = 10

const read = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "")

/** The fields of `/proc/<pid>/stat` after the name, which may hold spaces and brackets. */
const stat = async (pid: number): Promise<ReadonlyArray<number>> => {
  const text = await read(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number)
}

const field = (fields: ReadonlyArray<number>, index: number): number => fields[index] ?? 0

const waitsOf = async (pid: number): Promise<number> =>
  Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(await read(`/proc/${pid}/status`))?.[1] ?? 0)

/** One process with all its threads. */
export const useOf = async (pid: number): Promise<ProcessTotals> => {
  const fields = await stat(pid)
  return { cpuMs: (field(fields, 11) + field(fields, 12)) * tickMs, waits: new Map([[pid, await waitsOf(pid)]]) }
}

/**
 * A process and everything it started, as PostgreSQL's postmaster with its backends. What children that have ended
 * used is in the parent's own account once it has taken note of them.
 */
export const treeUseOf = async (root: number): Promise<ProcessTotals> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(pids.map(async (pid) => [pid, await stat(pid)] as const))
  const inside = new Set([root])
  for (let size = 0; size < inside.size;) {
    size = inside.size
    for (const [pid, fields] of stats) if (inside.has(field(fields, 1))) inside.add(pid)
  }
  let cpuMs = 0
  const waits = new Map<number, number>()
  for (const [pid, fields] of stats) {
    if (!inside.has(pid)) continue
    const ended = pid === root ? field(fields, 13) + field(fields, 14) : 0
    cpuMs += (field(fields, 11) + field(fields, 12) + ended) * tickMs
    waits.set(pid, await waitsOf(pid))
  }
  return { cpuMs, waits }
}

/** What was used between two looks. */
export const lessUse = (after: ProcessTotals, before: ProcessTotals): ProcessUse => ({
  cpuMs: after.cpuMs - before.cpuMs,
  waits: [...after.waits].reduce((sum, [pid, waits]) => sum + waits - (before.waits.get(pid) ?? 0), 0)
})

/** Memory of a process in MiB: what it holds now and the most it ever held. */
export const memoryOf = async (pid: number): Promise<{ readonly now: number; readonly peak: number }> => {
  const text = await read(`/proc/${pid}/status`)
  const of = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1024
  return { now: of("VmRSS"), peak: of("VmHWM") }
}

/** Write calls of a process so far, to sockets and files alike. */
export const writesOf = async (pid: number): Promise<number> =>
  Number(/^syscw:\s*(\d+)/m.exec(await read(`/proc/${pid}/io`))?.[1] ?? 0)
