import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** A server that runs as a child process and answers. */
export interface ChildServer {
  readonly origin: string
  readonly pid: number
  /** From the start of the process to its first answer. */
  readonly readyMs: number
  readonly stop: () => Promise<void>
}

const project = fileURLToPath(new URL("../..", import.meta.url))

const children = new Map<ChildProcess, () => Promise<void>>()

const end = async (child: ChildProcess) => {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit")
    child.kill("SIGTERM")
    const forced = setTimeout(() => child.kill("SIGKILL"), 15_000)
    await exited
    clearTimeout(forced)
  }
  children.delete(child)
}

/** Ends what is still running, for a benchmark that fails or is interrupted. */
export const endChildren = () => Promise.all([...children.values()].map((stop) => stop())).then(() => undefined)

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(async (response) => {
    await response.arrayBuffer()
    return response.ok
  }, () => false)

/** Starts a program of this project and waits until `probe` answers with success; throws with its output when it ends. */
export const startChild = async (options: {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly port: number
  readonly probe: string
  readonly timeoutMs?: number
}): Promise<ChildServer> => {
  const { DATABASE_URL: _url, NODE_ENV: _environment, ...inherited } = process.env
  const started = performance.now()
  const child = spawn(process.execPath, options.args, {
    cwd: project,
    env: { ...inherited, ...options.env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let ended: Promise<void> | undefined
  const stop = () => ended ??= end(child)
  children.set(child, stop)
  let output = ""
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4000)
  }
  child.stdout.on("data", keep)
  child.stderr.on("data", keep)
  const origin = `http://127.0.0.1:${options.port}`
  const deadline = started + (options.timeoutMs ?? 60_000)
  while (!(await answers(`${origin}${options.probe}`))) {
    if (child.exitCode !== null) throw new Error(`${options.args.join(" ")} ended with ${child.exitCode}:\n${output}`)
    if (performance.now() > deadline) {
      await stop()
      throw new Error(`${options.args.join(" ")} does not answer ${options.probe}:\n${output}`)
    }
    await pause(5)
  }
  return { origin, pid: child.pid ?? 0, readyMs: performance.now() - started, stop }
}
