import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { Client } from "pg"
import { openGraphileWorker } from "./GraphileWorker.ts"
import type { FromQueue, ToQueue } from "./Messages.ts"
import { openPgBoss } from "./PgBoss.ts"
import type { OpenQueue, Queue, QueueName } from "./Queue.ts"
import { openStoa } from "./Stoa.ts"

/* The process of one queue: does what its parent says, one thing after the other. */

const queues: Readonly<Record<QueueName, OpenQueue>> = {
  "stoa": openStoa,
  "graphile-worker": openGraphileWorker,
  "pg-boss": openPgBoss
}

const since = (began: number) => performance.now() - began

/** Waits until nothing is open any more: a job is done when the database says so. */
const untilDone = async (client: Client, { open }: Queue) => {
  for (let left = 1; left > 0;) {
    const { rows } = await client.query<{ open: number }>(open)
    left = rows[0]?.open ?? 0
    if (left > 0) await pause(5)
  }
}

/** From the call that enqueues to the first line of the handler, one job after the other, at rest in between. */
const pickup = async (queue: Queue, count: number, pauseMs: number) => {
  const times: Array<number> = []
  let heard: () => void = () => undefined
  await queue.start(() => heard())
  const one = async () => {
    const ran = new Promise<void>((resolve) => heard = resolve)
    const began = performance.now()
    await Promise.all([queue.enqueueOne(), ran])
    return since(began)
  }
  for (let warm = 0; warm < 20; warm++) await one()
  for (let n = 0; n < count; n++) {
    await pause(pauseMs)
    times.push(await one())
  }
  return times
}

/** Callers that enqueue at once, as requests of an application do. */
const writers = 2

const enqueue = (queue: Queue, count: number) => {
  const share = Math.ceil(count / writers)
  return Promise.all(Array.from({ length: writers }, (_, n) => queue.enqueue(Math.min(share, count - n * share))))
}

/** Most jobs that one round of feeding adds: a longer one would hold up the handlers of the same process. */
const feed = 5000

/**
 * Works for some seconds while the line is kept long; jobs that ran in each second, from the first handler's start on. It
 * is the process that counts, since asking the database how many wait would read all of them, again and again.
 */
const steady = async (queue: Queue, { already, pending, seconds }: Extract<ToQueue, { _tag: "steady" }>) => {
  let ran = 0
  let working = true
  let enqueued = already
  const add = async (count: number) => {
    await queue.enqueue(count)
    enqueued += count
  }
  if (pending > already) await add(pending - already)
  await new Promise<void>((resolve) => {
    void queue.start(() => ++ran === 1 ? resolve() : undefined)
  })
  const feeding = (async () => {
    while (working) {
      const short = pending - (enqueued - ran)
      await (short > 0 ? add(Math.min(feed, short)) : pause(20))
    }
  })()
  const perSecond: Array<number> = []
  for (let second = 0; second < seconds; second++) {
    const [before, began] = [ran, performance.now()]
    await pause(1000)
    perSecond.push((ran - before) / since(began) * 1000)
  }
  working = false
  await feeding
  return perSecond
}

/** From the first handler's start to the last record, without the start of the queue. */
const drain = async (queue: Queue, client: Client, count: number) => {
  let ran = 0
  let began = 0
  await new Promise<void>((resolve) => {
    void queue.start(() => {
      ran++
      if (ran === 1) began = performance.now()
      if (ran === count) resolve()
    })
  })
  await untilDone(client, queue)
  return since(began)
}

const serve = async () => {
  let queue: Queue | undefined
  let client: Client | undefined
  const work = async (message: ToQueue): Promise<ReadonlyArray<number>> => {
    if (message._tag === "open") {
      queue = queues[message.queue](message.url)
      client = new Client({ connectionString: message.url })
      await client.connect()
      return []
    }
    if (queue === undefined || client === undefined) throw new Error("No queue is open.")
    const began = performance.now()
    if (message._tag === "prepare") await queue.prepare()
    if (message._tag === "stop") await queue.stop()
    if (message._tag === "end") await client.end()
    if (message._tag === "enqueue") await enqueue(queue, message.count)
    if (message._tag === "pickup") return pickup(queue, message.count, message.pauseMs)
    if (message._tag === "steady") return steady(queue, message)
    if (message._tag === "drain") return [await drain(queue, client, message.count)]
    return [since(began)]
  }
  for (let open = true; open;) {
    const [message] = await once(process, "message")
    // The parent is this project's own and sends nothing else.
    const recorded = message as ToQueue
    const answer: FromQueue = { _tag: "done", times: await work(recorded) }
    process.send?.(answer)
    open = recorded._tag !== "end"
  }
  process.disconnect()
}

await serve()
