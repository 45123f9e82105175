import { setTimeout as pause } from "node:timers/promises"
import { slope } from "./measure/Figures.ts"
import { memoryOf } from "./measure/ProcessUse.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import { measureWindow } from "./measure/Window.ts"
import { printWindows } from "./measure/WindowReport.ts"
import type { Options } from "./Options.ts"
import type { Stage } from "./servers/Stage.ts"

/** Below this a slope says nothing: the heap still finds its size. */
const soakSeconds = 600

/** Memory of the server once a second for as long as it is under load; each point is [second, MiB]. */
const watch = (pid: number) => {
  const points: Array<readonly [number, number]> = []
  const began = performance.now()
  const timer = setInterval(() => {
    void memoryOf(pid).then(({ now }) => points.push([(performance.now() - began) / 1000, now]))
  }, 1000)
  return { points, stop: () => clearInterval(timer) }
}

/**
 * Memory of Stoa's process: idle after its start, at the peak of purchases, and after them. With --seconds 1800 it is
 * the soak: then the slope over the last two thirds has a bar. Run it alone, before anything else has loaded the server.
 */
export const runMemory = async (stage: Stage, options: Options): Promise<void> => {
  const { pid } = stage.stoa.server
  const seconds = options.seconds ?? 20
  heading("memory of the server")
  await pause(seconds < 5 ? 500 : 5000)
  const idle = await memoryOf(pid)
  const watched = watch(pid)
  const window = await measureWindow(stage.postgres, stage.stoa, {
    flow: "purchase",
    users: options.users ?? 16,
    warmup: options.warmup ?? 3,
    seconds,
    flows: 0,
    products: options.products,
    firstCart: 0
  })
  watched.stop()
  printWindows("purchases meanwhile", [window])
  await pause(seconds < 5 ? 500 : 5000)
  const after = await memoryOf(pid)
  const tail = watched.points.slice(Math.floor(watched.points.length / 3))
  const perMinute = slope(tail) * 60
  table(["MiB", ""], [["idle", idle.now], ["peak", after.peak], ["after load", after.now], [
    "slope a minute",
    perMinute
  ]])
  record("memory", { idle: idle.now, peak: after.peak, after: after.now, perMinute, seconds, points: watched.points })
  atMost("idle memory", idle.now, 200, " MiB")
  if (seconds >= soakSeconds) atMost("slope of memory in the soak", perMinute, 1, " MiB/min")
  else note(`(slope not judged: needs --seconds ${soakSeconds} or more)`)
}
