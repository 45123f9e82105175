import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import type { SmtpSettings } from "../../src/layers/config/MailConfig.ts"
import { MailTransport, type OutgoingMail } from "../../src/layers/mail/MailTransport.ts"
import { smtpTransport } from "../../src/layers/mail/SmtpTransport.ts"
import { aFreePort, bodiesOf, headerOf, localCertificate, startMailServer } from "../support/MailServer.ts"
import { waitFor } from "../support/waitFor.ts"
import { over } from "./MailedShop.ts"

const link = "https://shop.example/reset?token=abcdefghijklmnopqrstuvwxyz0123456789"

const aMail = (of: Partial<OutgoingMail> = {}): OutgoingMail => ({
  mail: {
    template: "password-reset",
    to: "ann@home.example",
    organizationId: "org_default",
    data: { resetUrl: link, userName: "Ann" }
  },
  messageId: "0190c0de-0000-7000-8000-000000000001@shop.example",
  attachments: [],
  headers: {},
  fromName: "Café Ölmühle, \"Nord\"",
  subject: "Ein neues Passwort — für Ann",
  text: "Grüße.\n.\nA line with a dot alone stands above.\n",
  html: "<p>Grüße &amp; more</p>",
  ...of
})

const transport = (settings: SmtpSettings) =>
  Effect.map(Layer.build(smtpTransport(settings)), (services) => Context.get(services, MailTransport))

/** The result of sending: `sent`, or the kind of error with its message. */
const ending = (settings: SmtpSettings, mail = aMail()) =>
  Effect.flatMap(transport(settings), ({ deliver }) =>
    deliver(mail).pipe(Effect.match({
      onSuccess: () => "sent",
      onFailure: ({ _tag, message }) => `${_tag}: ${message}`
    })))

describe("a mail over SMTP", () => {
  it.live("a mail arrives with its sender, subject, id and both bodies", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      assert.strictEqual(yield* ending(over(server.port)), "sent")
      const [mail] = server.arrived
      assert.isDefined(mail)
      if (mail === undefined) return
      assert.deepInclude(mail, { from: "orders@shop.example", to: ["ann@home.example"], encrypted: false })
      assert.strictEqual(headerOf(mail, "message-id"), `<${aMail().messageId}>`)
      assert.strictEqual(headerOf(mail, "to"), "ann@home.example")
      assert.include(headerOf(mail, "from"), "<orders@shop.example>")
      assert.match(headerOf(mail, "subject") ?? "", /^=\?UTF-8\?/)
      assert.strictEqual(headerOf(mail, "auto-submitted"), "auto-generated")
      assert.strictEqual(bodiesOf(mail).text.replaceAll("\r", "").trim(), aMail().text.trim())
      assert.include(bodiesOf(mail).html, "<p>Grüße &amp; more</p>")
    }))

  it.live("a mail has more headers, and a long link in one line", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const url = `https://shop.example/api/mail/unsubscribe?token=${"a1".repeat(150)}`
      const headers = { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
      yield* ending(over(server.port), aMail({ headers }))
      assert.include(server.arrived[0]?.raw ?? "", `List-Unsubscribe: <${url}>\r\n`)
      assert.include(server.arrived[0]?.raw ?? "", "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n")
    }))

  it.live("a name, subject or address adds no header line", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const evil = "x\r\nBcc: everybody@else.example\r\n\r\nbody"
      yield* ending(over(server.port), aMail({ fromName: evil, subject: evil }))
      yield* ending(
        over(server.port),
        aMail({ mail: { ...aMail().mail, to: `ann@home.example>\r\nRCPT TO:<b@c.example` } })
      )
      for (const mail of server.arrived) {
        assert.isUndefined(headerOf(mail, "bcc"))
        assert.strictEqual(mail.to.length, 1)
      }
      assert.isAtLeast(server.arrived.length, 1)
    }))

  it.live("mails share a connection one after the other, and it is closed at the end", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const scope = yield* Scope.make()
      const { deliver } = yield* Scope.provide(transport(over(server.port, { answerTimeoutMs: 60_000 })), scope)
      yield* deliver(aMail())
      yield* deliver(aMail())
      assert.deepStrictEqual(server.connections(), { made: 1, open: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => waitFor("the connection to be closed", () => server.connections().open === 0))
    }))

  it.live("mails use no more connections than allowed, and none is lost while it waits", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const { deliver } = yield* transport(over(server.port, { connections: 2 }))
      yield* Effect.forEach(Array.from({ length: 20 }), () => deliver(aMail()), { concurrency: "unbounded" })
      assert.strictEqual(server.arrived.length, 20)
      assert.isAtMost(server.connections().made, 2)
    }))

  it.live("the time limit of a mail starts once it has a connection", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const { deliver } = yield* transport(over(server.port, { connections: 1, sendTimeoutMs: 5_000 }))
      server.next(...Array.from({ length: 6 }, () => ({ afterMs: 1_000 })))
      yield* Effect.forEach(Array.from({ length: 6 }), () => deliver(aMail()), { concurrency: "unbounded" })
      assert.strictEqual(server.arrived.length, 6)
    }))

  it.live("a mail arrives over a new connection after a restart of the server", () =>
    Effect.gen(function*() {
      const first = yield* startMailServer()
      const { deliver } = yield* transport(over(first.port))
      yield* deliver(aMail())
      yield* first.stop
      const second = yield* startMailServer({ port: first.port })
      yield* deliver(aMail())
      assert.strictEqual(second.arrived.length, 1)
    }))
})

describe("a mail that is not taken", () => {
  for (
    const [at, code, kind] of [
      ["receiver", 550, "MailRefused"],
      ["receiver", 450, "MailDelayed"],
      ["sender", 553, "MailRefused"],
      ["sender", 451, "MailDelayed"],
      ["message", 554, "MailRefused"],
      ["message", 452, "MailDelayed"],
      ["message", 421, "MailDelayed"],
      // The session's fault, which the operator mends.
      ["sender", 530, "MailDelayed"]
    ] as const
  ) {
    it.live(`a mail is ${kind} if the server answers ${code} to its ${at}, and the error contains nothing private`, () =>
      Effect.gen(function*() {
        const server = yield* startMailServer()
        server.next({ at, code, text: `5.1.1 <ann@home.example> and ${link} are not wanted here` })
        const said = yield* ending(over(server.port))
        assert.include(said, `${kind}: `)
        assert.include(said, String(code))
        assert.include(said, "are not wanted here")
        assert.notMatch(said, /ann|home|token|abcdef/)
      }))
  }

  it.live("a mail without a listening server is tried again", () =>
    Effect.gen(function*() {
      assert.match(yield* ending(over(yield* aFreePort)), /^MailDelayed: .*ECONNREFUSED/)
    }))

  it.live("a mail whose login is refused is tried again, and the error contains no password", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer({ login: { user: "shop", pass: "right" } })
      const login = (pass: string) => ({ login: { user: "shop", pass: Redacted.make(pass) } })
      assert.match(yield* ending(over(server.port, login("wrong-password"))), /^MailDelayed: (?!.*wrong-password).*535/)
      assert.strictEqual(yield* ending(over(server.port, login("right"))), "sent")
      assert.deepStrictEqual(server.arrived.map(({ user }) => user), ["shop"])
    }))

  it.live("a mail is tried again if the server is silent or too slow", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      server.next("silence", "dribble")
      assert.match(yield* ending(over(server.port, { answerTimeoutMs: 2_000 })), /^MailDelayed/)
      assert.match(yield* ending(over(server.port, { sendTimeoutMs: 3_000 })), /^MailDelayed: .* longer than 3000 ms/)
      yield* Effect.promise(() => waitFor("both lines to be cut", () => server.connections().open === 0))
      assert.strictEqual(server.arrived.length, 2)
    }))

  it.live("a mail is not sent twice if the connection is cut before the answer", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const { deliver } = yield* transport(over(server.port))
      yield* deliver(aMail())
      server.next("cut")
      assert.strictEqual((yield* Effect.flip(deliver(aMail())))._tag, "MailDelayed")
      assert.strictEqual(server.arrived.length, 2)
      yield* deliver(aMail())
      assert.deepStrictEqual(new Set(server.arrived.map((mail) => headerOf(mail, "message-id"))).size, 1)
    }))

  it.live("an interrupted mail is cut off, and the next ones are sent", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer()
      const { deliver } = yield* transport(over(server.port, { connections: 1 }))
      server.next("silence")
      const stuck = yield* Effect.forkChild(deliver(aMail()))
      yield* Effect.promise(() => waitFor("the first mail", () => server.arrived.length === 1))
      const waiting = yield* Effect.forkChild(deliver(aMail({ subject: "taken back" })))
      const behind = yield* Effect.forkChild(deliver(aMail({ subject: "behind" })))
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(stuck)
      yield* Fiber.join(behind)
      assert.deepStrictEqual(server.arrived.map((mail) => headerOf(mail, "subject")).slice(1), ["behind"])
    }))
})

describe("encryption on the way to the server", () => {
  it.live("TLS is used if the server offers it", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer({ tls: "local" })
      assert.strictEqual(yield* ending(over(server.port, { host: "localhost", ca: localCertificate })), "sent")
      assert.deepStrictEqual(server.arrived.map(({ encrypted }) => encrypted), [true])
    }))

  it.live("an invalid certificate is refused with any policy", () =>
    Effect.gen(function*() {
      const server = yield* startMailServer({ tls: "expired" })
      for (const starttls of ["opportunistic", "required"] as const) {
        assert.match(yield* ending(over(server.port, { host: "localhost", starttls })), /^MailDelayed/)
      }
      assert.deepStrictEqual(server.arrived, [])
    }))

  it.live("TLS is optional, required or off as configured", () =>
    Effect.gen(function*() {
      const plain = yield* startMailServer()
      assert.strictEqual(yield* ending(over(plain.port)), "sent")
      assert.match(yield* ending(over(plain.port, { starttls: "required" })), /^MailDelayed/)
      assert.strictEqual(plain.arrived.length, 1)
      const offering = yield* startMailServer({ tls: "expired" })
      assert.strictEqual(yield* ending(over(offering.port, { starttls: "never" })), "sent")
      assert.deepStrictEqual(offering.arrived.map(({ encrypted }) => encrypted), [false])
    }))
})
