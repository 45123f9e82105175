import { fork } from "node:child_process"
import type { FromLoad, LoadJob, LoadReport, ToLoad } from "./Messages.ts"

/** Called when the load is warm and quiet, before the window; what it gives is called after the window. */
export type Around<A> = () => Promise<() => Promise<A>>

/** Runs a load process for one window and gives its report beside what was measured around the window. */
export const runLoad = <A>(job: LoadJob, around: Around<A>): Promise<{ report: LoadReport; around: A }> =>
  new Promise((resolve, reject) => {
    const child = fork(new URL("main.ts", import.meta.url), { stdio: "inherit" })
    const send = (message: ToLoad) => child.send(message)
    let after: (() => Promise<A>) | undefined
    let answered = false
    const hear = async (message: FromLoad) => {
      if (message._tag === "warm") {
        after = await around()
        send({ _tag: "go" })
        return
      }
      answered = true
      if (after !== undefined) resolve({ report: message.report, around: await after() })
    }
    child.on("message", (message: FromLoad) => void hear(message).catch(reject))
    child.once("error", reject)
    child.once("exit", (code) => {
      if (!answered) reject(new Error(`The load process ended with ${code} before its report.`))
    })
    send({ _tag: "job", job })
  })
