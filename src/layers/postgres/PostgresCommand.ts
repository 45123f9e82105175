import { spawn } from "node:child_process"
import { type LauncherVariable, variable } from "../config/PostgresEnvironment.ts"

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

export interface CommandResult {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly output: string
  readonly failure: string
}

const inherited: ReadonlyArray<LauncherVariable> = [
  "PATH",
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "SystemRoot",
  "TEMP",
  "TMP"
]

/**
 * English messages, because they are matched; UTC; nothing of the application's environment, which may hold secrets or
 * PG* variables.
 */
export const childEnvironment = (): Record<string, string> => {
  const environment: Record<string, string> = { LC_ALL: "C", LC_MESSAGES: "C", TZ: "UTC" }
  for (const name of inherited) {
    const value = variable(name)
    if (value !== undefined) environment[name] = value
  }
  return environment
}

export const identity = (account: Account | undefined): { readonly uid?: number; readonly gid?: number } =>
  account === undefined ? {} : { uid: account.uid, gid: account.gid }

export const runCommand = (
  file: string,
  args: ReadonlyArray<string>,
  options: { readonly account?: Account | undefined; readonly timeoutMs: number }
): Promise<CommandResult> =>
  new Promise((resolve) => {
    let stdout = ""
    let output = ""
    const done = (code: number | null, signal: string | null, failure: string) =>
      resolve({ code, signal, stdout, output: output.trim(), failure })
    try {
      const child = spawn(file, args, {
        ...identity(options.account),
        // The project may be closed to the account; the root directory never is.
        cwd: "/",
        env: childEnvironment(),
        stdio: ["ignore", "pipe", "pipe"],
        timeout: options.timeoutMs,
        killSignal: "SIGKILL",
        windowsHide: true
      })
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString()
        output += chunk.toString()
      })
      child.stderr.on("data", (chunk: Buffer) => {
        output += chunk.toString()
      })
      child.once("error", (error: NodeJS.ErrnoException) => done(null, null, error.code ?? error.message))
      child.once("close", (code, signal) => done(code, signal, ""))
    } catch (error) {
      done(null, null, error instanceof Error && "code" in error ? String(error.code) : String(error))
    }
  })
