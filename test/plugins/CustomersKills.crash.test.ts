import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { type Gate, killAt, killDuring, makeGates } from "../support/KillAt.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct } from "../support/Purchase.ts"
import { placeOf, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api, asAdmin, asCustomer, type TestApp } from "../support/TestApp.ts"
import { answering, serviceEmulator } from "./ServiceEmulator.ts"

const program = fileURLToPath(new URL("../support/serveCustomers.ts", import.meta.url))

const send = (method: string, path: string, body = {}, as = asAdmin) => api(method, `/api/${path}`, { as, body })

const done = Effect.fnUntraced(function*(...request: Parameters<typeof send>) {
  const answer = yield* send(...request)
  assert.isBelow(answer.status, 300, `${request[1]}: ${JSON.stringify(answer.body)}`)
  return answer
})

/** A job as the scheduler enqueues it. */
const enqueue = (task: string) =>
  onDatabase((sql) =>
    sql`with made as (insert into commerce_jobs (id, organization_id, queue, task_slug, input, max_attempts)
      values (${newId()}::uuid, 'org_default', 'default', ${task}, '{}', 1) returning queue)
      select pg_notify('stoa_jobs', queue) from made`
  )

const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
const [nine, eleven] = [`${day}T09:00:00.000Z`, `${day}T11:00:00.000Z`]
const person = (name: string) => ({
  as: { ...asCustomer(`user-${name}`), email: `${name}@example.com`, permissions: ["appointments:book"] },
  who: { customerName: name, customerEmail: `${name}@example.com` }
})
const [ann, bob, cid] = [person("ann"), person("bob"), person("cid")]

/** Ann has booked a haircut at nine, and others wait for one. */
const morning = Effect.fnUntraced(function*(...waiting: ReadonlyArray<typeof ann>) {
  const cut = { name: "Cut", slug: "cut", durationMinutes: 60, minNoticeMins: 0 }
  const serviceTypeId = (yield* done("POST", "appointments/services", cut)).text("data.id")
  const providerId = (yield* done("POST", "appointments/providers", { name: "Grace" })).text("data.id")
  yield* done("POST", `appointments/providers/${providerId}/services`, { serviceTypeId })
  const schedules = Array.from({ length: 7 }, (_, n) => ({ dayOfWeek: n, startTime: "09:00", endTime: "17:00" }))
  yield* done("PUT", `appointments/availability/${providerId}/weekly`, { schedules })
  const wish = { ...ann.who, serviceTypeId, providerId, startTime: nine, paymentMethod: "cash" }
  const booked = yield* done("POST", "appointments/bookings", wish, ann.as)
  for (const { as, who } of waiting) {
    yield* done("POST", "appointments/waiting-list", { ...who, serviceTypeId, earliest: nine, latest: eleven }, as)
  }
  return { path: `appointments/bookings/${booked.text("data.booking.id")}`, wish }
})

const booking = Effect.map(morning(bob), ({ wish }) => ({
  ask: send("POST", "appointments/bookings", { ...wish, ...bob.who, startTime: eleven }, bob.as)
}))
const move = Effect.map(morning(bob), ({ path }) => ({
  ask: send("POST", `${path}/reschedule`, { newStartTime: eleven }, ann.as)
}))
const cancellation = Effect.map(morning(bob), ({ path }) => ({ ask: send("POST", `${path}/cancel`, {}, ann.as) }))

/** Bob was offered a time and let it go by. */
const expiry = Effect.gen(function*() {
  const { path } = yield* morning(bob, cid)
  yield* done("POST", `${path}/cancel`, {}, ann.as)
  yield* onDatabase((sql) =>
    sql`update appointment_waiting_list set expires_at = now() - interval '1 minute' where status = 'offered'`
  )
  return { ask: Effect.andThen(enqueue("appointments/waiting-list-expiry"), send("POST", "jobs/run?limit=100")) }
})

/** A published review of five stars, and one of four with a photo that is approved. */
const approval = Effect.gen(function*() {
  const entityId = yield* aProduct({ stock: 0 })
  const photo = newId()
  yield* onDatabase((sql) =>
    sql`insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest, is_public, uploaded_by)
      values (${photo}::uuid, 'org_default', '2026/a.jpg', 'a', 'image/jpeg', 1, 'd', false, ${asAdmin.userId ?? null})`
  )
  const written = Effect.fnUntraced(function*(email: string, rating: number, photoIds: ReadonlyArray<string>) {
    const customerId = (yield* done("POST", "customers", { email })).text("data.id")
    const made = yield* done("POST", "reviews", { entityId, customerId, rating, photoIds })
    return `reviews/${made.text("data.id")}/approve`
  })
  yield* done("PATCH", yield* written("ann@example.com", 5, []))
  return { ask: send("PATCH", yield* written("bob@example.com", 4, [photo])) }
})

/** Appointments, places on the waiting list, mails and events of all. */
const diary = onDatabase((sql) =>
  sql`select
    array(select to_char(start_time at time zone 'UTC', 'HH24:MI ') || status from appointment_bookings
      order by 1) as booked,
    array(select customer_name || ' ' || status from appointment_waiting_list order by 1) as waiting,
    array(select split_part(input->>'template', '/', 2) from commerce_jobs where task_slug = 'mail/send'
      order by 1) as mails,
    array(select type from outbox_events where type like 'appointment.%' order by 1) as events`
)

/** How often each rating is counted and published, and what came of it. */
const ratings = onDatabase((sql) =>
  sql`select array(select unnest(array[star1, star2, star3, star4, star5]) from review_summaries) as counted,
    array(select (select count(*)::int4 from customer_reviews where is_published and rating = n)
      from generate_series(1, 5) n) as published,
    (select count(*)::int4 from media_assets where is_public) as photos,
    (select count(*)::int4 from outbox_events where type = 'reviews.approved') as events`
)

/** A process that dies and is replaced, and the way to it. */
const aShop = Effect.fnUntraced(function*(environment: Readonly<Record<string, string>>, gates: ReadonlyArray<Gate>) {
  const { url } = yield* freshDatabase
  const place = yield* placeOf({ databaseUrl: url, program, environment })
  yield* makeGates(url, gates)
  const inShop = <A>(work: Effect.Effect<A, never, TestApp>) =>
    Effect.suspend(() => Effect.provide(work, talkingTo(place.service(), url)))
  return { ...place, inShop, url }
})

const [bookings, waiting] = ["appointment_bookings", "appointment_waiting_list"]
const written = [bookings, waiting, "customer_reviews"]
const gates = written.map((table) => ({ name: "commits", change: `insert or update on ${table}` }))
const cancelled = { booked: ["09:00 cancelled"], events: ["appointment.cancelled"] }
const moved = { ...cancelled, booked: [...cancelled.booked, "11:00 provisional"] }

it.live.each([
  {
    what: "an appointment that is booked",
    prepare: booking,
    books: diary,
    tables: ["appointment_providers", bookings, waiting],
    after: { booked: ["09:00 provisional", "11:00 provisional"], waiting: ["bob booked"], mails: [], events: [] },
    again: 409
  },
  {
    what: "an appointment that is moved",
    prepare: move,
    books: diary,
    tables: [bookings, "appointment_providers", waiting],
    after: { ...moved, waiting: ["bob offered"], mails: ["move", "opening"] },
    again: 422
  },
  {
    what: "an appointment that is cancelled",
    prepare: cancellation,
    books: diary,
    tables: [bookings, waiting],
    after: { ...cancelled, waiting: ["bob offered"], mails: ["cancellation", "opening"] },
    again: 422
  },
  {
    what: "an offer that has run out and goes to the next",
    prepare: expiry,
    books: diary,
    tables: [waiting],
    after: { ...cancelled, waiting: ["bob expired", "cid offered"], mails: ["cancellation", "opening", "opening"] },
    again: 200
  },
  {
    what: "a review that is published",
    prepare: approval,
    books: ratings,
    tables: ["customer_reviews", "review_summaries", "media_assets"],
    after: { counted: [0, 0, 0, 1, 1], published: [0, 0, 0, 1, 1], photos: 1, events: 2 },
    again: 200
  }
])("$what, whose process is killed at any of its tables or its commit, is so wholly or not at all", (
  { after, again, books, prepare, tables }
) =>
  Effect.scoped(Effect.gen(function*() {
    const { inShop, replace, service, url } = yield* aShop({ STOA_JOBS_AUTORUN: "false" }, gates)
    const { ask } = yield* inShop(prepare)
    const before = yield* inShop(books)
    for (const table of [...tables, "commits"]) {
      yield* killAt(table, service(), url, inShop(ask))
      yield* replace
      assert.deepStrictEqual(yield* inShop(books), before, table)
    }
    yield* killAt("commits", service(), url, inShop(ask), "carried out")
    yield* replace
    assert.deepStrictEqual(yield* inShop(books), [after])
    const repeated = yield* inShop(Effect.all([ask, ask, ask].map(persistently), { concurrency: 3 }))
    assert.deepStrictEqual(repeated.map(({ status }) => status), [again, again, again])
    assert.deepStrictEqual(yield* inShop(books), [after])
  })), 240_000)

/** The commits of a message on its way, from its event to the note that it is sent. */
const [log, sms] = ["update on notification_log", "new.channel = 'sms'"]
const steps = [
  { name: "queued", change: "insert on notification_log" },
  { name: "handled", change: "delete on event_dispatches" },
  { name: "claimed", change: log, when: `${sms} and new.attempts > old.attempts` },
  { name: "handed", change: log, when: "new.channel = 'print' and new.status = 'sent'" },
  { name: "noted", change: log, when: `${sms} and new.status = 'sent'` },
  { name: "next", change: log, when: `${sms} and new.provider_id = 'other'` }
]
const deaths = [
  { step: "asked", fate: "lost" } as const,
  ...steps.flatMap(({ name }) => (["lost", "carried out"] as const).map((fate) => ({ step: name, fate })))
]
/** Deaths after which the provider that may have sent the SMS is asked once more. */
const inDoubt = ["asked lost", "noted lost", "next lost"]
const askedAfter = (death: string) =>
  death === "next carried out" ? ["/main", "/other"] : inDoubt.includes(death) ? ["/main", "/main"] : ["/main"]

/** Steps beside an SMS that may be on its way: then its provider is asked once more, under the same key. */
const beside = ["queued", "handled", "handed"]

/** Messages to a customer, print jobs and mails of all customers, and events that are not handled. */
const messagesTo = (email: string) =>
  onDatabase((sql) =>
    sql`select array(select channel || ' ' || status from notification_log
        where customer_id = (select id from plugin_customers where email = ${email}) order by 1) as messages,
      (select count(*)::int4 from notification_print_jobs) as printed,
      (select count(*)::int4 from commerce_jobs where task_slug = 'mail/send') as mails,
      (select count(*)::int4 from event_dispatches) as open`
  )
const sent = { messages: ["email sent", "in_app delivered", "print sent", "sms sent"], open: 0 }

it.live(
  "messages whose process is killed at any of their steps are all sent, each under one key",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { origin, received, script } = yield* serviceEmulator
      const { inShop, replace, service, url } = yield* aShop({ STOA_TEST_PROVIDER: origin }, steps)
      const template = { event: "customers.create", subject: "Hi", bodyTemplate: "Hello", printerId: "p" }
      for (const channel of ["sms", "email", "print", "in_app"]) {
        yield* inShop(done("POST", "notifications/templates", { ...template, channel }))
      }
      for (const [n, { fate, step }] of deaths.entries()) {
        const [death, before, email] = [`${step} ${fate}`, received.length, `ann-${n}@example.com`]
        const arrives = inShop(send("POST", "customers", { email, phone: `+4366012345${n}` }))
        if (step === "next") script.push(answering(503))
        if (step === "asked") script.push(() => service().kill("SIGKILL"))
        yield* step === "asked" ? arrives : killDuring(step, service(), url, arrives, fate)
        yield* Effect.promise(() => service().ended)
        // The lease of the dead process runs out, and the next run of the job comes.
        yield* inShop(onDatabase((sql) => sql`update notification_log set next_at = now() where status = 'queued'`))
        yield* inShop(enqueue("notifications/send"))
        yield* replace
        const now = inShop(messagesTo(email))
        const isDone = Effect.map(now, ([row]) => row?.["open"] === 0 && !String(row["messages"]).includes("queued"))
        yield* eventually(`all after ${death}`, isDone)
        assert.deepStrictEqual(yield* now, [{ ...sent, printed: n + 1, mails: n + 1 }], death)
        const asked = received.slice(before)
        const paths = asked.map(({ path }) => path)
        assert.deepStrictEqual(beside.includes(step) ? [...new Set(paths)] : paths, askedAfter(death), death)
        assert.strictEqual(new Set(asked.map(({ headers }) => headers["idempotency-key"])).size, 1, death)
      }
    })),
  600_000
)
