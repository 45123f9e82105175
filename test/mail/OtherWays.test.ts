import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Mail, Mails } from "../../src/domain/mail/Mail.ts"
import { OrderMailRepo } from "../../src/domain/mail/OrderMailRepo.ts"
import { GiveUp } from "../../src/domain/platform/tasks/Task.ts"
import { MailSettings } from "../../src/layers/mail/MailTexts.ts"
import {
  adapterTransport,
  fileTransport,
  type MailAdapter,
  MailTransport,
  type OutgoingMail
} from "../../src/layers/mail/MailTransport.ts"
import { queuedMailsLayer } from "../../src/layers/mail/QueuedMails.ts"
import { JobsDouble, jobsDouble } from "../webhooks/JobsDouble.ts"

const link = "http://localhost:4000/verify?token=abc"

const outgoing: OutgoingMail = {
  mail: {
    template: "email-verification",
    to: "ann@home.example",
    organizationId: "org_default",
    data: { verifyUrl: link, userName: "Ann" }
  },
  messageId: "0190c0de-0000-7000-8000-000000000001@localhost",
  attachments: [],
  headers: {},
  fromName: "Stoa",
  subject: "Grüße",
  text: `Hello Ann,\n\n${link}\n`,
  html: "<p>Grüße</p>"
}

const deliver = (transport: Layer.Layer<MailTransport>, mail = outgoing) =>
  Effect.scoped(Effect.flatMap(Layer.build(transport), (all) => Context.get(all, MailTransport).deliver(mail)))

const aFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-mail-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

describe("mails of development", () => {
  it.live("mails of a plugin, whose names have a slash, are files too", () =>
    Effect.gen(function*() {
      const folder = join(yield* aFolder, "mail")
      const { deliver } = yield* Effect.provide(MailTransport, fileTransport(folder))
      yield* deliver({ ...outgoing, mail: { ...outgoing.mail, template: "gift-cards/delivery" } })
      const files = yield* Effect.promise(() => readdir(folder))
      assert.deepStrictEqual(files, ["0190c0de-0000-7000-8000-000000000001-gift-cards-delivery.eml"])
    }))

  it.live("mails of development are readable files and a log line with the link", () =>
    Effect.gen(function*() {
      const folder = join(yield* aFolder, "mail")
      const lines: Array<string> = []
      const log = Logger.layer([Logger.make(({ message }) => lines.push(String(message)))])
      yield* Effect.provide(Effect.andThen(deliver(fileTransport(folder)), deliver(fileTransport(folder))), log)
      const files = yield* Effect.promise(() => readdir(folder))
      assert.deepStrictEqual(files, ["0190c0de-0000-7000-8000-000000000001-email-verification.eml"])
      const path = join(folder, files[0] ?? "")
      const text = yield* Effect.promise(() => readFile(path, "utf8"))
      for (const part of ["To: ann@home.example\n", "Subject: Grüße\n", link, "<p>Grüße</p>"]) {
        assert.include(text, part)
      }
      assert.strictEqual((yield* Effect.promise(() => stat(path))).mode & 0o777, 0o600)
      assert.isTrue(lines.length === 2 && lines.every((line) => line.includes(link) && line.includes(path)))
    }))

  it.live("mails of development contain their attachments", () =>
    Effect.gen(function*() {
      const folder = yield* aFolder
      const attachments = [{ fileName: "INV-1.pdf", contentType: "application/pdf", content: Buffer.from("%PDF-1") }]
      const quiet = Logger.layer([])
      yield* Effect.provide(deliver(fileTransport(folder), { ...outgoing, attachments }), quiet)
      const [name = ""] = yield* Effect.promise(() => readdir(folder))
      const text = yield* Effect.promise(() => readFile(join(folder, name), "utf8"))
      assert.include(text, "Content-Disposition: attachment; filename=\"INV-1.pdf\"")
      assert.include(text, Buffer.from("%PDF-1").toString("base64"))
      assert.include(text, link)
    }))

  it.live("the oldest files of mails are removed", () =>
    Effect.gen(function*() {
      const folder = yield* aFolder
      const names = Array.from({ length: 505 }, (_, index) => `${String(index).padStart(4, "0")}.eml`)
      yield* Effect.promise(() => Promise.all(names.map((name) => writeFile(join(folder, name), ""))))
      yield* Effect.provide(deliver(fileTransport(folder)), Logger.layer([]))
      const left = yield* Effect.promise(() => readdir(folder))
      assert.strictEqual(left.length, 501)
      assert.notInclude(left, "0004.eml")
    }))

  it.live("a mail whose file cannot be written is tried again", () =>
    Effect.gen(function*() {
      const folder = yield* aFolder
      yield* Effect.promise(() => writeFile(join(folder, "mail"), "a file in the way"))
      assert.strictEqual((yield* Effect.flip(deliver(fileTransport(join(folder, "mail")))))._tag, "MailDelayed")
    }))
})

describe("mails over an adapter of the deployment", () => {
  it.effect("an adapter receives the template, receiver, data and texts of a mail", () =>
    Effect.gen(function*() {
      const given: Array<object> = []
      yield* deliver(adapterTransport(async (mail) => given.push(mail)))
      yield* deliver(adapterTransport((mail) => Effect.sync(() => given.push(mail))))
      const { mail: { data, organizationId, template, to }, fromName: _, ...texts } = outgoing
      const expected = { template, to, data, organizationId, ...texts }
      assert.deepStrictEqual(given, [expected, expected])
    }))

  it.effect("every failure of an adapter is tried again, except a GiveUp", () =>
    Effect.gen(function*() {
      const failing: ReadonlyArray<MailAdapter> = [
        () => Promise.reject(new Error(`no ${link}`)),
        () => Effect.fail(`no ${link}`),
        () => Effect.die(new Error(`no ${link}`)),
        () => {
          throw new Error(`no ${link}`)
        }
      ]
      for (const send of failing) {
        const { _tag, message } = yield* Effect.flip(deliver(adapterTransport(send)))
        assert.deepStrictEqual([_tag, message], ["MailDelayed", "no …"])
      }
      for (const send of [() => Promise.reject(new GiveUp("never")), () => Effect.fail(new GiveUp("never"))]) {
        assert.strictEqual((yield* Effect.flip(deliver(adapterTransport(send))))._tag, "MailRefused")
      }
    }))
})

const unused = () => Effect.die("no mail of this test is about an order")

const noRecords = Layer.succeed(
  OrderMailRepo,
  OrderMailRepo.of({ addressed: unused, addressedReturns: unused, note: () => Effect.void, paymentState: unused })
)

describe("mails that are not wanted", () => {
  const mailsWith = (options: Parameters<typeof MailSettings.layerOf>[0]) =>
    queuedMailsLayer.pipe(
      Layer.provideMerge(jobsDouble),
      Layer.provide(MailSettings.layerOf(options)),
      Layer.provide(noRecords)
    )

  const jobsAfter = (mail: Mail) =>
    Effect.gen(function*() {
      const mails = yield* Mails
      yield* mails.send(mail)
      return { on: mails.isOn, sends: mails.sends(mail.template), jobs: (yield* JobsDouble).jobs.length }
    })

  it.effect("mails of a disabled template and of a deployment without mail are not enqueued", () =>
    Effect.gen(function*() {
      const { mail } = outgoing
      const switched = yield* Effect.provide(jobsAfter(mail), mailsWith({ switchedOff: ["email-verification"] }))
      assert.deepStrictEqual(switched, { on: true, sends: false, jobs: 0 })
      const other = yield* Effect.provide(jobsAfter(mail), mailsWith({ switchedOff: ["password-reset"] }))
      assert.deepStrictEqual(other, { on: true, sends: true, jobs: 1 })
      const off = yield* Effect.provide(jobsAfter(mail), mailsWith({ isOn: false }))
      assert.deepStrictEqual(off, { on: false, sends: false, jobs: 0 })
    }))
})
