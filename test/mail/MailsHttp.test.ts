import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { Mails } from "../../src/domain/mail/Mail.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { aFreePort, bodiesOf, headerOf, type MailServer, startMailServer } from "../support/MailServer.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, TestApp } from "../support/TestApp.ts"
import { aCartOf, jobsAbout, mailing, onThe, shopMailingTo } from "./MailedShop.ts"

/** The port that the shop sends its mails to; a test starts the server. */
class MailPort extends Context.Service<MailPort, number>()("stoa/test/mail/MailPort") {}

const Shop = Layer.unwrap(
  Effect.map(aFreePort, (port) => Layer.provideMerge(shopMailingTo(port), Layer.succeed(MailPort, port)))
)

const withMail = layer(Shop, live)

const aServer = Effect.flatMap(MailPort, (port) => startMailServer({ port }))

const about = (server: MailServer, to: string) => server.arrived.filter((mail) => mail.to.includes(to))

/** An order with this address. */
const anOrderOf = Effect.fnUntraced(function*(email: string | undefined) {
  const placed = yield* checkOut(yield* aCartOf(email))
  assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
  return { id: placed.text("data.id"), number: placed.text("data.orderNumber") }
})

const setStatus = (orderId: string, status: string) =>
  api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status } })

const link = "https://shop.example/reset?token=a-link-that-opens-an-account"

const aReset = (to: string) => ({
  template: "password-reset" as const,
  to,
  organizationId: "org_default",
  data: { resetUrl: link, userName: "Ann" }
})

const send = (to: string) => Effect.flatMap(Mails, (mails) => mails.send(aReset(to)))

withMail("an order", (it) => {
  it.effect("an order is created while the mail server is down, and confirmed once it is back", () =>
    Effect.gen(function*() {
      const order = yield* anOrderOf("ann@home.example")
      const [waiting] = yield* mailing(
        "a try that came to nothing",
        Effect.map(jobsAbout(order.id), (jobs) => jobs[0]?.attempts === 2 && jobs)
      )
      assert.deepInclude(waiting, { status: "pending" })
      assert.match(waiting?.error ?? "", /ECONNREFUSED/)
      const server = yield* aServer
      const [mail] = yield* mailing("the confirmation", Effect.sync(() => server.arrived.length > 0 && server.arrived))
      assert.deepInclude(mail, { to: ["ann@home.example"], from: "orders@shop.example" })
      if (mail === undefined) return
      assert.strictEqual(headerOf(mail, "message-id"), `<${waiting?.id}@shop.example>`)
      assert.strictEqual(headerOf(mail, "subject"), `Your order ${order.number}`)
      const { html, text } = bodiesOf(mail)
      for (const body of [html, text]) {
        assert.include(body, "2 × Title of")
        assert.include(body, "$25.00")
      }
    }))

  it.effect("a confirmation creates no customer", () =>
    Effect.gen(function*() {
      const server = yield* aServer
      const customers = Effect.map(api("GET", "/api/customers", { as: asAdmin }), (one) =>
        one.at("meta.pagination.total"))
      const before = yield* customers
      const { id } = yield* anOrderOf("gus@home.example")
      yield* setStatus(id, "confirmed")
      yield* mailing(
        "both mails",
        Effect.sync(() =>
          about(server, "gus@home.example").length === 2
        )
      )
      assert.isNumber(before)
      assert.strictEqual(yield* customers, before)
    }))

  it.effect("each change of an order's status is mailed once", () =>
    Effect.gen(function*() {
      const server = yield* aServer
      const order = yield* anOrderOf("bob@home.example")
      yield* setStatus(order.id, "confirmed")
      yield* setStatus(order.id, "processing")
      assert.strictEqual((yield* setStatus(order.id, "pending")).status, 422)
      const subjects = yield* mailing(
        "three mails",
        Effect.sync(() => about(server, "bob@home.example").length >= 3 && about(server, "bob@home.example"))
      )
      assert.sameMembers(subjects.map((mail) => headerOf(mail, "subject")), [
        `Your order ${order.number}`,
        `Your order ${order.number} is confirmed`,
        `Your order ${order.number} is processing`
      ])
      const last = subjects.find((mail) => headerOf(mail, "subject")?.endsWith("processing"))
      assert.include(last === undefined ? "" : bodiesOf(last).text, "processing, before that confirmed")
      const jobs = yield* jobsAbout(order.id)
      assert.deepStrictEqual(jobs.map(({ status }) => status), ["succeeded", "succeeded", "succeeded"])
    }))

  it.effect("an order without an address and a failed checkout are not mailed", () =>
    Effect.gen(function*() {
      const server = yield* aServer
      const silent = yield* anOrderOf(undefined)
      const failed = yield* checkOut(yield* aCartOf("cid@home.example"), { paymentMethodId: "test_capture_fail" })
      assert.strictEqual(failed.status, 422)
      // Everything before it has been through the change log when this one's mail arrives.
      yield* anOrderOf("dan@home.example")
      yield* mailing("the one after them", Effect.sync(() => about(server, "dan@home.example").length > 0))
      assert.deepStrictEqual(yield* jobsAbout(silent.id), [])
      const [cancelled] = yield* onDatabase((sql) =>
        sql<{ readonly id: string }>`select id from orders where status = 'cancelled' and amount_captured is null`
      )
      const jobs = yield* mailing(
        "the end of its mails",
        Effect.map(jobsAbout(cancelled?.id), (all) => all.every(({ status }) => status === "succeeded") && all)
      )
      assert.deepStrictEqual(jobs.map(({ output }) => output), [{ skipped: "The order was cancelled." }])
      assert.deepStrictEqual(about(server, "cid@home.example"), [])
    }))

  it.effect("an unpaid order is confirmed once it is paid, under the id of the first job", () =>
    Effect.gen(function*() {
      const server = yield* aServer
      const order = yield* anOrderOf("eve@home.example")
      const captured = (amount: number | null) =>
        onDatabase((sql) => sql`update orders set amount_captured = ${amount} where id = ${order.id}::uuid`)
      yield* captured(null)
      const [first, ...again] = yield* mailing(
        "two that were put off",
        Effect.map(jobsAbout(order.id), (jobs) => jobs.length >= 3 && jobs)
      )
      assert.deepStrictEqual(first?.output, { waiting: "the order is not paid yet" })
      assert.isTrue(again.every(({ attempts }) => attempts <= 1))
      yield* captured(2500)
      const [mail] = yield* mailing(
        "the confirmation",
        Effect.sync(() => about(server, "eve@home.example").length > 0 && about(server, "eve@home.example"))
      )
      assert.strictEqual(mail && headerOf(mail, "message-id"), `<${first?.id}@shop.example>`)
    }))
})

withMail("a mail with a link that opens an account", (it) => {
  it.effect("a job shows neither the link nor the address of its mail, before and after it was sent", () =>
    Effect.gen(function*() {
      const server = yield* aServer
      yield* send("fay@home.example")
      const rows = Effect.map(jobsAbout(undefined), (jobs) => jobs.map(({ row }) => row).join("\n"))
      const waiting = yield* rows
      yield* mailing("the mail", Effect.sync(() => about(server, "fay@home.example").length > 0))
      const [mail] = about(server, "fay@home.example")
      assert.include(mail === undefined ? "" : bodiesOf(mail).text, link)
      for (const row of [waiting, yield* rows]) {
        assert.include(row, "password-reset")
        assert.notMatch(row, /fay|home\.example|opens-an-account/)
      }
    }))

  it.effect("a refused mail fails at once, and its error contains nothing private", () =>
    Effect.gen(function*() {
      const server = yield* aServer
      server.next({ at: "message", code: 554, text: `5.7.1 <gil@home.example>: ${link} is on a list` })
      yield* send("gil@home.example")
      const failed = yield* mailing(
        "the failed job",
        Effect.map(api("GET", "/api/admin/jobs/failed", { as: asAdmin }), (all) => all.list("data").length > 0 && all)
      )
      assert.deepInclude(failed.at("data.0"), { taskSlug: "mail/send", attempts: 1, status: "failed", maxAttempts: 7 })
      assert.match(failed.text("data.0.error"), /refused it: 554 5\.7\.1 .* is on a list/)
      assert.notMatch(JSON.stringify(failed.body), /gil|home\.example|opens-an-account/)
      assert.strictEqual(server.arrived.length, 1)
    }))

  it.effect("a mail is enqueued only if its transaction commits", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const before = (yield* jobsAbout(undefined)).length
      yield* Effect.exit(sql.withTransaction(Effect.andThen(send("hal@home.example"), Effect.fail("changed my mind"))))
      assert.strictEqual((yield* jobsAbout(undefined)).length, before)
      yield* sql.withTransaction(send("hal@home.example"))
      assert.strictEqual((yield* jobsAbout(undefined)).length, before + 1)
    }))

  it.effect("a mail without a valid address is skipped", () =>
    Effect.gen(function*() {
      const before = (yield* jobsAbout(undefined)).length
      for (
        const to of ["", "no address", "a@b\r\nBcc: c@d", "a@b, c@d", "<a@b>", "a b@c", `${"a".repeat(260)}@b.example`]
      ) {
        yield* Effect.provide(send(to), Logger.layer([]))
      }
      assert.strictEqual((yield* jobsAbout(undefined)).length, before)
    }))
})

describe("a restarted service", () => {
  it.live("a restarted service sends the mails that were queued before", () =>
    Effect.gen(function*() {
      const port = yield* aFreePort
      const { url } = yield* freshDatabase
      const service = <A, E>(work: Effect.Effect<A, E, TestApp>) =>
        Effect.updateService(work, TestApp, (app) => ({ ...app, databaseUrl: url })).pipe(
          Effect.provide(shopMailingTo(port, {}, onThe(url)))
        )
      const order = yield* service(Effect.gen(function*() {
        const placed = yield* anOrderOf("ann@home.example")
        yield* eventually("its mail", Effect.map(jobsAbout(placed.id), (jobs) => jobs.length > 0))
        return placed
      }))
      const server = yield* startMailServer({ port })
      yield* service(
        mailing("the end of its job", Effect.map(jobsAbout(order.id), (jobs) => jobs[0]?.status === "succeeded"))
      )
      assert.deepStrictEqual(server.arrived.map(({ to }) => to), [["ann@home.example"]])
    }))
})
