import { Duration, Effect, Stream } from "effect"
import { Draining } from "../server/RequestId.ts"

const heartbeat = ": heartbeat\n\n"

/** Proxies close connections that are silent for half a minute. */
const heartbeatEvery = "15 seconds"

/** The client reconnects, and its access is checked again. */
const maxLife = Duration.minutes(15)

const retry = "retry: 1000\n\n"

const lookEvery = "1 second"

const hasToEnd = Effect.gen(function*() {
  const farewell = yield* Draining
  yield* Effect.repeat(Effect.sleep(lookEvery), { until: () => farewell.begun })
})

/** JSON has no line breaks. */
export const messageOf = ({ data, event, id }: {
  readonly id?: string | number
  readonly event: string
  readonly data: unknown
}): string => `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Ends with the messages, with the process, or after a quarter of an hour. */
export const serverSentEvents = <E, R>(messages: Stream.Stream<string, E, R>) => {
  const beats = Stream.map(Stream.drop(Stream.tick(heartbeatEvery), 1), () => heartbeat)
  const text = Stream.concat(Stream.make(retry), Stream.merge(messages, beats, { haltStrategy: "left" }))
  return {
    // `x-accel-buffering` keeps nginx from buffering.
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    body: Stream.encodeText(Stream.interruptWhen(text, Effect.raceFirst(Effect.sleep(maxLife), hasToEnd)))
  }
}
