import { Effect, type Scope } from "effect"
import { Socket } from "effect/socket"

/** Characters of a frame that nothing more is added to: some clients take no frames of more than 32 KiB. */
const fullFrame = 16_384

/**
 * Writes what is sent within one turn of the event loop as one frame, several lines of it: a frame and a system call for
 * each small message were a fifth of the work of a server of calls.
 */
class JoiningWriter implements Socket.Writer {
  readonly #writer: Socket.Writer
  /** Between the opening of a connection and its end; what is written before waits for one, and can be withdrawn. */
  #connected = false
  #lines = ""
  #planned = false

  constructor(writer: Socket.Writer) {
    this.#writer = writer
  }

  begin(): void {
    this.#connected = true
  }

  /** What was not sent yet was meant for the connection that ends: whoever waits for an answer hears of the end. */
  end(): void {
    this.#connected = false
    this.#lines = ""
  }

  readonly write: Socket.Writer["write"] = (chunk) =>
    Effect.suspend(() => {
      if (typeof chunk === "string" && this.#connected) {
        this.#add(chunk)
        return Effect.void
      }
      this.#flush()
      return this.#writer.write(chunk)
    })

  readonly writeAll: Socket.Writer["writeAll"] = (chunks) =>
    Effect.suspend(() => {
      this.#flush()
      return this.#writer.writeAll(chunks)
    })

  #add(line: string): void {
    // Before and not behind: a large message goes alone, and the small ones ahead of it in their order.
    if (this.#lines.length + line.length > fullFrame) this.#flush()
    this.#lines += line
    if (this.#lines.length >= fullFrame) return this.#flush()
    if (this.#planned) return
    this.#planned = true
    setImmediate(() => {
      this.#planned = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#lines === "") return
    const lines = this.#lines
    this.#lines = ""
    // A socket that is open takes what it is given; that it broke is heard by whoever reads from it.
    Effect.runFork(Effect.ignore(this.#writer.write(lines)))
  }
}

/** The same socket, of messages that end with a line each, which joins what is written together. */
export const joiningFrames = (socket: Socket.Socket): Effect.Effect<Socket.Socket, never, Scope.Scope> =>
  Effect.map(socket.writer, (writer) => {
    const joining = new JoiningWriter(writer)
    return Socket.make({
      writer: Effect.succeed(joining),
      reader: Effect.tap(
        socket.reader,
        () => Effect.acquireRelease(Effect.sync(() => joining.begin()), () => Effect.sync(() => joining.end()))
      )
    })
  })
