import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { socketUrl } from "./Calls.ts"

/** How a call ended, as the wire has it: the tag of its error, or its value. */
export interface Reported {
  readonly ok: boolean
  /** Tag of the typed error; `Die` for a defect, `Interrupt` for an interruption. */
  readonly error: string | undefined
  /** The value of a success, the records of a stream, or what an error says. */
  readonly value: unknown
}

export interface Frame {
  readonly _tag: string
  readonly requestId?: string
  readonly values?: ReadonlyArray<unknown>
  readonly exit?: { readonly _tag: string; readonly value?: unknown; readonly cause?: ReadonlyArray<Failure> }
}

interface Failure {
  readonly _tag: string
  readonly error?: { readonly _tag: string; readonly refusal: unknown }
  readonly defect?: unknown
}

/** A WebSocket at `/rpc` without any client around it. */
export interface RawSocket {
  /** Makes a call and waits for its end; every chunk of a stream is acknowledged at once. */
  readonly call: (tag: string, payload: unknown, headers?: Readonly<Record<string, string>>) => Effect.Effect<Reported>
  readonly send: (text: string | Uint8Array<ArrayBuffer>) => void
  /** Everything that came and belongs to no call. */
  readonly frames: ReadonlyArray<Frame>
  /** Code of its end. */
  readonly closed: Effect.Effect<number>
  readonly isOpen: () => boolean
  readonly close: () => void
}

const recorded = (
  { cause = [], value }: NonNullable<Frame["exit"]>,
  tag: string,
  values: ReadonlyArray<unknown>
): Reported => {
  if (tag === "Success") return { ok: true, error: undefined, value: values.length > 0 ? values : value }
  const [first] = cause
  const error = first?._tag === "Fail" ? first.error?._tag : first?._tag
  return { ok: false, error, value: first?.error?.refusal ?? first?.defect }
}

const opened = (url: string) =>
  new Promise<WebSocket>((resolve, reject) => {
    const socket = new WebSocket(url)
    socket.addEventListener("open", () => resolve(socket), { once: true })
    socket.addEventListener("error", () => reject(new Error("refused")), { once: true })
  })

const speaking = (socket: WebSocket): RawSocket => {
  const frames: Array<Frame> = []
  const waiting = new Map<string, (frame: Frame) => void>()
  let calls = 0
  const code = new Promise<number>((resolve) =>
    socket.addEventListener("close", (event) => resolve(event.code), { once: true })
  )
  socket.addEventListener("message", ({ data }) => {
    for (const line of String(data).split("\n").filter((text) => text !== "")) {
      const frame: Frame = JSON.parse(line)
      const wanted = waiting.get(String(frame.requestId))
      if (wanted === undefined) frames.push(frame)
      else wanted(frame)
    }
  })
  const send = (text: string | Uint8Array<ArrayBuffer>) => socket.send(text)
  return {
    send,
    frames,
    closed: Effect.promise(() => code),
    isOpen: () => socket.readyState === WebSocket.OPEN,
    close: () => socket.close(),
    call: (tag, payload, headers = {}) =>
      Effect.promise(() =>
        new Promise<Reported>((resolve) => {
          const id = `call-${++calls}`
          const values: Array<unknown> = []
          waiting.set(id, (frame) => {
            if (frame._tag === "Chunk") {
              values.push(...frame.values ?? [])
              send(`${JSON.stringify({ _tag: "Ack", requestId: id })}\n`)
            }
            if (frame.exit !== undefined) resolve(recorded(frame.exit, frame.exit._tag, values))
          })
          send(`${JSON.stringify({ _tag: "Request", id, tag, payload, headers: Object.entries(headers) })}\n`)
        })
      )
  }
}

/** A socket that is closed with the scope. */
export const rawSocket = Effect.flatMap(
  socketUrl,
  (url) =>
    Effect.acquireRelease(
      Effect.map(Effect.promise(() => opened(url)), speaking),
      (socket) => Effect.sync(socket.close)
    )
)

/** Headers of a request as this actor. */
export const as = (actor: object): Readonly<Record<string, string>> => ({ "x-test-actor": JSON.stringify(actor) })

const upgrade =
  "GET /rpc HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n" +
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

/** An upgraded socket whose other side reads nothing, not even its end. */
export const unread = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<Socket>((resolve) => {
        const socket = connect(port, "127.0.0.1")
        socket.on("error", () => undefined)
        socket.once("data", () => resolve(socket.pause()))
        socket.write(upgrade)
      })
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )
