import { type ChildProcess, spawn } from "node:child_process"
import { open, readFile, rename, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Writable } from "node:stream"
import { setTimeout as pause } from "node:timers/promises"
import { type Account, childEnvironment, identity } from "./PostgresCommand.ts"
import { readPostmaster } from "./PostmasterPid.ts"

/**
 * The life-line: a process beside the server waits for the end of a pipe from the parent; however the parent ends, the
 * server gets a fast shutdown. The subshell keeps it from being the server's child, which would count as a backend. It
 * stays in the server's process group, so the id in `$$` cannot be reused while it waits.
 */
const lifeLine = "( { read -r _ <&3; kill -INT $$; } >/dev/null 2>&1 & ); exec \"$@\" 3<&-"

const largestLog = 10 * 1024 * 1024

export interface ServerProcess {
  readonly pid: number
  /** Seconds since 1970. */
  readonly startedAt: number
  readonly exited: Promise<void>
  readonly hasExited: () => boolean
  readonly output: () => Promise<string>
  readonly stop: () => Promise<void>
}

const openLog = async (file: string) => {
  const size = await stat(file).then((found) => found.size, () => 0)
  if (size > largestLog) await rename(file, `${file}.1`)
  return { handle: await open(file, "a", 0o600), offset: size > largestLog ? 0 : size }
}

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
  }
}

const within = async (promise: Promise<void>, ms: number): Promise<boolean> => {
  const controller = new AbortController()
  const timer = pause(ms, false, { signal: controller.signal }).catch(() => false)
  const done = await Promise.race([promise.then(() => true), timer])
  controller.abort()
  return done
}

const shutDown = async (child: ChildProcess, line: Writable | undefined, exited: Promise<void>): Promise<void> => {
  const pid = child.pid
  if (pid === undefined) return
  child.ref()
  if (process.platform === "win32") child.kill()
  else line?.destroy()
  if (await within(exited, 10_000)) return
  signal(pid, "SIGQUIT")
  if (await within(exited, 3_000)) return
  signal(process.platform === "win32" ? pid : -pid, "SIGKILL")
  await exited
}

const spawnServer = (file: string, args: ReadonlyArray<string>, account: Account | undefined, log: number) =>
  process.platform === "win32"
    ? spawn(file, args, { env: childEnvironment(), stdio: ["ignore", log, log], windowsHide: true })
    : spawn("/bin/sh", ["-c", lifeLine, "postgres", file, ...args], {
      ...identity(account),
      cwd: "/",
      env: childEnvironment(),
      stdio: ["ignore", log, log, "pipe"],
      // A separate process group: Ctrl-C reaches the application first, which stops the server in order.
      detached: true
    })

/** Starts a server that cannot outlive this process. Not ready yet: see `untilReady`. */
export const startServer = async (options: {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly account: Account | undefined
  readonly directory: string
}): Promise<ServerProcess> => {
  const file = join(options.directory, "postgres.log")
  const { handle, offset } = await openLog(file)
  let gone = false
  let failure = ""
  let stopping: Promise<void> | undefined
  const startedAt = Math.floor(Date.now() / 1000)
  const child = spawnServer(options.file, options.args, options.account, handle.fd)
  const line = child.stdio[3] as Writable | null | undefined ?? undefined // a "pipe" beyond stderr is always a duplex
  const exited = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      failure = String(error)
      gone = true
      resolve()
    })
    child.once("exit", () => {
      gone = true
      line?.destroy()
      resolve()
    })
  })
  line?.on("error", () => undefined)
  await handle.close()
  child.unref()
  if (line !== undefined && "unref" in line && typeof line.unref === "function") line.unref()
  return {
    pid: child.pid ?? 0,
    startedAt,
    exited,
    hasExited: () => gone,
    output: async () =>
      (failure + (await readFile(file).catch(() => Buffer.alloc(0))).subarray(offset).toString()).slice(-4000).trim(),
    stop: () => stopping ??= shutDown(child, line, exited)
  }
}

export const untilReady = async (
  server: ServerProcess,
  data: string,
  deadline: number
): Promise<"ready" | "exited" | "timeout"> => {
  for (;;) {
    const seen = await readPostmaster(data)
    // In a container a killed server's file often names the next one's id: its age tells them apart.
    const own = seen !== undefined && seen.pid === server.pid && seen.startedAt >= server.startedAt
    if (own && seen.status === "ready" && !server.hasExited()) return "ready"
    if (server.hasExited()) return "exited"
    if (Date.now() > deadline) return "timeout"
    await pause(5)
  }
}
