import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../../src/layers/FreePort.ts"
import { waitFor } from "./waitFor.ts"

/** A request that the receiver noted; `accepted` says that the public library found its signature good. */
export interface Arrival {
  readonly id: string
  readonly accepted: boolean
  readonly body: string
}

/** A receiver of webhooks in a separate process, which can be killed and started again on its port. */
export interface ReceiverProcess {
  readonly url: string
  /** What the endpoint is to be registered with. */
  readonly secret: string
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Everything that was noted, in its order, by all of its lives. */
  readonly arrivals: () => ReadonlyArray<Arrival>
}

const program = fileURLToPath(new URL("./serveReceiver.ts", import.meta.url))
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

const launch = async (port: number, file: string): Promise<ChildProcess> => {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const child = spawn(process.execPath, [program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...inherited, PORT: String(port), STOA_TEST_ARRIVALS: file, STOA_TEST_SECRET: secret }
  })
  let output = ""
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString()
  })
  await waitFor("the receiver to listen", () => output.includes("listening"))
  return child
}

const end = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    child.kill("SIGKILL")
  })

/** Starts one; it is killed when the scope closes. */
export const receiverProcess: Effect.Effect<ReceiverProcess, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = mkdtempSync(join(tmpdir(), "stoa-receiver-"))
    const file = join(directory, "arrivals")
    writeFileSync(file, "")
    const port = await freePort()
    let child = await launch(port, file)
    const kill = Effect.promise(() => end(child))
    const receiver: ReceiverProcess = {
      url: `http://127.0.0.1:${port}/hook`,
      secret,
      kill,
      start: Effect.promise(async () => {
        child = await launch(port, file)
      }),
      // Noted by `serveReceiver.ts`.
      arrivals: () =>
        readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
    }
    return { receiver, remove: () => rmSync(directory, { recursive: true }) }
  }),
  ({ receiver, remove }) => Effect.andThen(receiver.kill, Effect.sync(remove))
).pipe(Effect.map(({ receiver }) => receiver))
