import { Effect } from "effect"
import { SMTPServer, type SMTPServerSession } from "smtp-server"

/** A certificate of localhost for clients that trust it; its key is public. */
export const localCertificate = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIURdoWgw7WRiebCJh+HJInnY5D5qowCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA1NTMyOVoYDzIxMjYxMDI4
MDU1MzI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQLe/RVkjECzqxt8tAH8INGo3P5gxUGnKdMhXuIa0zWbU/XGiQck0df
DXo1U1nGJ5GsnzwvRyPPkfCMdLyDUUN7o28wbTAdBgNVHQ4EFgQUzJrYfleZOsIm
Hb/U5J4kkheRSUkwHwYDVR0jBBgwFoAUzJrYfleZOsImHb/U5J4kkheRSUkwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgPlauT5xK1cyEM0vgYTlb++ACKrBqebS+FRTHxjjOY90CICnh
tdhioYbztImpN5ao0Rgpn57RZNoCroeRHKLi/Irh
-----END CERTIFICATE-----
`

const localKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgD2O7Jl6CevUqL9+w
iVXrh202qrAkv4tIHWOyWxbQSjehRANCAAQLe/RVkjECzqxt8tAH8INGo3P5gxUG
nKdMhXuIa0zWbU/XGiQck0dfDXo1U1nGJ5GsnzwvRyPPkfCMdLyDUUN7
-----END PRIVATE KEY-----
`

/** What becomes of a mail: `take`, or that after a while; a refusal; silence, a reply that never ends, or a cut line after all of it has come. */
export type Turn =
  | "take"
  | { readonly afterMs: number }
  | { readonly at: "sender" | "receiver" | "message"; readonly code: number; readonly text: string }
  | "silence"
  | "dribble"
  | "cut"

/** A mail as it came over the wire. */
export interface Arrived {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Head and body as they were sent. */
  readonly raw: string
  readonly encrypted: boolean
  readonly user: string | undefined
}

export interface MailServer {
  readonly port: number
  /** Every message that arrived, with any answer. */
  readonly arrived: ReadonlyArray<Arrived>
  /** What is done with the next mails, one after the other; then every mail is taken. */
  readonly next: (...turns: ReadonlyArray<Turn>) => void
  /** Connections in all, and those that are open. */
  readonly connections: () => { readonly made: number; readonly open: number }
  /** Ends it with all its connections, as a restart does. */
  readonly stop: Effect.Effect<void>
}

export interface MailServerOptions {
  /** Default: any. */
  readonly port?: number
  /** Default `none`. `local`: STARTTLS with the certificate above; `expired`: with one that clients do not trust. */
  readonly tls?: "none" | "local" | "expired"
  readonly login?: { readonly user: string; readonly pass: string }
}

const refusal = ({ code, text }: { readonly code: number; readonly text: string }) =>
  Object.assign(new Error(text), { responseCode: code })

const bytesOf = async (stream: AsyncIterable<Uint8Array>) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

const arrivedOf = (session: SMTPServerSession, raw: string): Arrived => ({
  from: session.envelope.mailFrom === false ? "" : session.envelope.mailFrom.address,
  to: session.envelope.rcptTo.map(({ address }) => address),
  raw,
  encrypted: session.secure,
  user: typeof session.user === "string" ? session.user : undefined
})

const tlsOptions = (tls: MailServerOptions["tls"]) =>
  tls === "local"
    ? { key: localKey, cert: localCertificate }
    : tls === "expired"
    ? {}
    : { disabledCommands: ["STARTTLS"] }

/** A mail server on loopback that does what a test tells it. It ends with the scope. */
export const startMailServer = Effect.fnUntraced(function*({ login, port = 0, tls = "none" }: MailServerOptions = {}) {
  const arrived: Array<Arrived> = []
  const turns: Array<Turn> = []
  const current = new Map<string, Turn>()
  let made = 0

  const socketOf = (session: SMTPServerSession) =>
    [...server.connections].find((connection) => connection.session.id === session.id)?._socket

  /** Refuses where the turn of this mail says so. */
  const refusing = (at: "sender" | "receiver" | "message", session: SMTPServerSession) => {
    const turn = current.get(session.id)
    return typeof turn === "object" && "at" in turn && turn.at === at ? refusal(turn) : undefined
  }

  const server: SMTPServer = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    authOptional: login === undefined,
    ...tlsOptions(tls),
    ...(login === undefined ? { hideSTARTTLS: tls === "none" } : { allowInsecureAuth: true }),
    onAuth: ({ password, username }, _session, done) =>
      username === login?.user && password === login?.pass
        ? done(null, { user: username })
        : done(refusal({ code: 535, text: `5.7.8 no such login: ${username}` })),
    onConnect: (_session, done) => {
      made += 1
      done()
    },
    onMailFrom: (_address, session, done) => {
      current.set(session.id, turns.shift() ?? "take")
      done(refusing("sender", session))
    },
    onRcptTo: (_address, session, done) => done(refusing("receiver", session)),
    onData: (stream, session, done) => {
      void bytesOf(stream).then((raw) => {
        arrived.push(arrivedOf(session, raw))
        const turn = current.get(session.id)
        const socket = socketOf(session)
        if (turn === "cut") return socket?.destroy()
        if (turn === "silence") return
        if (typeof turn === "object" && "afterMs" in turn) return void setTimeout(() => done(), turn.afterMs)
        if (turn !== "dribble") return done(refusing("message", session))
        const drop = setInterval(() => socket?.write("250-wait a little\r\n"), 10)
        socket?.on("close", () => clearInterval(drop))
      })
    }
  })
  server.on("error", () => undefined)

  const stop = Effect.callback<void>((resume) => {
    for (const connection of server.connections) connection._socket.destroy()
    server.close(() => resume(Effect.void))
  })
  const listening = yield* Effect.acquireRelease(
    Effect.callback<number, Error>((resume) => {
      const socket = server.listen(port, "127.0.0.1", () => {
        const address = socket.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
      })
      socket.once("error", (error) => resume(Effect.fail(error)))
    }),
    () => stop
  )
  return {
    port: listening,
    arrived,
    next: (...more) => {
      turns.push(...more)
    },
    connections: () => ({ made, open: server.connections.size }),
    stop
  } satisfies MailServer
})

/** A port without a listener, to start a server on later. */
export const aFreePort = Effect.scoped(Effect.map(startMailServer(), ({ port }) => port))

/** A line of the head of a mail, unfolded; undefined where there is none. */
export const headerOf = ({ raw }: Arrived, name: string): string | undefined =>
  raw.split("\r\n\r\n")[0]?.replace(/\r\n[ \t]+/g, " ").split("\r\n").find((line) =>
    line.toLowerCase().startsWith(`${name.toLowerCase()}: `)
  )?.slice(name.length + 2)

const decoded = (part: string): string => {
  const [head = "", ...body] = part.split("\r\n\r\n")
  const text = body.join("\r\n\r\n")
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(text, "base64").toString("utf8")
  if (!/quoted-printable/i.test(head)) return text
  const bytes = text.replace(/=\r\n/g, "").replace(
    /=([0-9A-F]{2})/gi,
    (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  )
  return Buffer.from(bytes, "latin1").toString("utf8")
}

/** The two bodies of a mail, as a mail program shows them. */
export const bodiesOf = (mail: Arrived): { readonly text: string; readonly html: string } => {
  const boundary = /boundary="([^"]+)"/.exec(mail.raw)?.[1] ?? ""
  const parts = mail.raw.split(`--${boundary}`)
  const of = (type: string) => decoded((parts.find((part) => part.includes(`Content-Type: ${type}`)) ?? "").trimStart())
  return { text: of("text/plain"), html: of("text/html") }
}
