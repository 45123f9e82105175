import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import {
  contractOf,
  inOrganization,
  machineOf,
  raceOf,
  type TestActor,
  testAdminActor,
  testCustomerActor,
  testNoPermActor,
  withPermissions
} from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { bookings } from "../AppointmentTables.ts"
import { booking } from "../Bookings.ts"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob] = [customer("ann"), customer("bob")]
const staff = { ...withPermissions(["appointments:manage"], testAdminActor), userId: "user-staff" }

const hours = { startTime: "09:00", endTime: "10:00" }
const past = { startTime: "2026-01-01T09:00:00Z", endTime: "2026-01-01T10:00:00Z" }
const samples = {
  appointment_weekly_availability: hours,
  appointment_breaks: hours,
  appointment_bookings: { ...past, blockedFrom: past.startTime, blockedUntil: past.endTime, currency: "USD" },
  appointment_waiting_list: { earliest: past.startTime, latest: past.endTime }
}

describe("appointments", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon()
  })
  afterAll(() => salon.close())

  it("keep to the rules of every plugin, and to their moves", async () => {
    for (const { name, run } of [...contractOf(salon, { samples }), ...machineOf(salon, booking, { samples })]) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })

  it("are booked once of eight who ask at once, of a provider or of any who is free", async () => {
    const service = await salon.service()
    const [one, two] = [await salon.provider(service), await salon.provider(service)]
    const body = salon.wish(service, salon.at(2, "10:00"), { providerId: one, customerEmail: ann.email })
    const answers = await raceOf(salon, { method: "POST", path: "/api/appointments/bookings", body, as: ann })
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)])
    const wish = salon.wish(service, salon.at(2, "11:00"))
    const again = () => salon.ask("POST", "/appointments/bookings", wish, bob)
    const all = await Promise.all(Array.from({ length: 8 }, again))
    const won = all.filter(({ status }) => status === 201)
    assert.sameMembers(won.map(({ text }) => text("data.booking.providerId")), [one, two])
    assert.deepStrictEqual(all.filter(({ status }) => status === 409).length, 6)
    // One with less to do around it comes first.
    const id = await salon.book(ann, service, salon.at(2, "13:00"))
    assert.notStrictEqual((await salon.done("GET", `/bookings/${id}`)).at("data.providerId"), one)
  })

  it("cannot overlap by any other way either", async () => {
    const service = await salon.service()
    const providerId = await salon.provider(service)
    const id = await salon.book(ann, service, salon.at(3, "10:00"), { providerId })
    const copy = `insert into appointment_bookings
      select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).* from appointment_bookings b where id = $1`
    const failed = await salon.db.query(copy, [id]).then(() => "inserted", String)
    assert.notStrictEqual(failed, "inserted")
    await salon.done("POST", `/bookings/${id}/cancel`, {}, ann)
    await salon.book(bob, service, salon.at(3, "10:00"), { providerId })
    // Back to back.
    await salon.book(bob, service, salon.at(3, "11:00"), { providerId })
  })

  it("are refused where they cannot be booked", async () => {
    const service = await salon.service({ minNoticeMins: 600, maxAdvanceDays: 10, bufferAfterMinutes: 30 })
    const other = await salon.service()
    const providerId = await salon.provider(service)
    const closed = await salon.service({ isActive: false })
    const [good, at] = [salon.at(2, "09:00"), { providerId }]
    const cases: ReadonlyArray<readonly [string, object, Parameters<Salon["refused"]>[4]]> = [
      ["401 UNAUTHORIZED", salon.wish(service, good, at), null],
      ["403 FORBIDDEN", salon.wish(service, good, at), testNoPermActor],
      ["403 FORBIDDEN", salon.wish(service, good, { ...at, customerId: "user-bob" }), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, good, { ...at, customerId: "user-zoe" }), staff],
      ["422 VALIDATION_FAILED", salon.wish(service, good, { ...at, customerEmail: "ann" }), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, good, { ...at, customerEmail: "victim@example.com" }), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, good, { ...at, paymentMethod: "gold" }), ann],
      ["422 VALIDATION_FAILED", salon.wish(closed, good, at), ann],
      ["422 VALIDATION_FAILED", salon.wish(randomUUID(), good, at), ann],
      ["422 VALIDATION_FAILED", salon.wish(other, good, at), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, good, { providerId: randomUUID() }), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, salon.at(2, "09:10"), at), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, salon.at(2, "17:00"), at), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, salon.at(-1, "09:00"), at), ann],
      ["422 VALIDATION_FAILED", salon.wish(service, salon.at(12, "09:00"), at), ann]
    ]
    for (const [expected, body, as] of cases) await salon.refused(expected, "POST", "/bookings", body, as)
    await salon.book(ann, service, good, at)
    await salon.refused("409 CONFLICT", "POST", "/bookings", salon.wish(service, good, at), bob)
  })

  it("are shown, with their calendar, to the provider with their login, and to no other one", async () => {
    const service = await salon.service()
    const [hers, other] = [await salon.provider(service, { userId: "user-hair" }), await salon.provider(service)]
    const own = await salon.book(ann, service, salon.at(4, "10:00"), { providerId: hers })
    const foreign = await salon.book(bob, service, salon.at(4, "10:00"), { providerId: other })
    const hair = { ...withPermissions(["appointments:read:own"], ann), userId: "user-hair" }
    const list = async (filter: string, as: TestActor = hair) =>
      (await salon.done("GET", `/bookings${filter}`, undefined, as)).list("data").map((one) => Object(one).id)
    assert.deepStrictEqual([await list(""), await list(`?providerId=${other}`)], [[own], []])
    assert.deepStrictEqual(await list("", { ...hair, userId: "user-nails" }), [])
    assert.includeMembers(await list("?limit=100", staff), [own, foreign])
    assert.strictEqual((await salon.done("GET", `/bookings/${own}`, undefined, hair)).at("data.id"), own)
    await salon.refused("404 NOT_FOUND", "GET", `/bookings/${foreign}`, undefined, hair)
    await salon.refused("403 FORBIDDEN", "POST", `/bookings/${own}/confirm`, undefined, hair)
    await salon.refused("403 FORBIDDEN", "GET", "/bookings", undefined, ann)
    await salon.refused("401 UNAUTHORIZED", "GET", "/bookings", undefined, null)
    await salon.done("POST", `/providers/${hers}/calendar`, undefined, hair)
    await salon.refused("404 NOT_FOUND", "POST", `/providers/${other}/calendar`, undefined, hair)
  })

  it("are priced and timed as the provider offers them", async () => {
    const service = await salon.service({ priceCents: 5_000, currency: "EUR" })
    const link = { customDurationMinutes: 90, customPriceCents: 7_500 }
    const providerId = await salon.provider(service, { link })
    const made = await salon.done("POST", "/bookings", salon.wish(service, salon.at(2, "10:30"), { providerId }), ann)
    const agreed = { endTime: salon.at(2, "12:00"), priceCents: 7_500, currency: "EUR", status: "provisional" }
    assert.deepInclude(made.at("data.booking"), agreed)
  })

  it("are seen and changed by their customer and by staff, and by no others", async () => {
    await salon.ask("GET", "/me/profile", undefined, bob)
    const service = await salon.service()
    const providerId = await salon.provider(service)
    const id = await salon.book(ann, service, salon.at(4, "10:00"), { providerId })
    const move = { newStartTime: salon.at(4, "11:00") }
    const outsider = inOrganization("org_other", testAdminActor)
    for (const as of [bob, outsider]) {
      await salon.refused("404 NOT_FOUND", "POST", `/bookings/${id}/cancel`, {}, as)
      await salon.refused("404 NOT_FOUND", "POST", `/bookings/${id}/reschedule`, move, as)
      await salon.refused("404 NOT_FOUND", "GET", `/my-bookings/${id}`, undefined, as)
    }
    for (const path of ["", `/${id}`]) await salon.refused("403 FORBIDDEN", "GET", `/bookings${path}`, undefined, ann)
    for (const name of ["confirm", "complete", "no-show"]) {
      await salon.refused("403 FORBIDDEN", "POST", `/bookings/${id}/${name}`, {}, ann)
    }
    assert.strictEqual((await salon.done("GET", `/my-bookings/${id}`, undefined, ann)).at("data.id"), id)
    const mine = (from: string) => salon.done("GET", `/my-bookings?status=provisional&from=${from}`, undefined, ann)
    assert.strictEqual((await mine(salon.at(4, "10:00"))).at("data.0.id"), id)
    assert.strictEqual((await mine(salon.at(4, "10:01"))).at("data.length"), 0)
    const anns = `/bookings?providerId=${providerId}&customerId=${ann.userId}`
    const found = await salon.done("GET", anns, undefined, staff)
    assert.deepStrictEqual([found.at("meta.pagination.total"), found.at("data.0.id")], [1, id])
    const moved = await salon.done("POST", `/bookings/${id}/reschedule`, move, staff)
    const next = moved.text("data.newBooking.id")
    assert.deepInclude(moved.at("data.oldBooking"), { status: "cancelled", cancellationReason: "Rescheduled" })
    assert.deepInclude(moved.at("data.newBooking"), { rescheduledFromId: id, customerId: ann.userId })
    await salon.mailed("move", "ann@example.com", { startTime: move.newStartTime })
    await salon.refused("422 INVALID_TRANSITION", "POST", `/bookings/${id}/reschedule`, move, ann)
    const cancelled = await salon.done("POST", `/bookings/${next}/cancel`, { reason: "Ill" }, ann)
    assert.deepInclude(cancelled.at("data.booking"), { status: "cancelled", cancellationReason: "Ill" })
    assert.strictEqual(cancelled.at("data.refunded"), false)
    await salon.book(staff, service, salon.at(4, "10:00"), { providerId, customerId: bob.userId })
    const bobs = await salon.done("GET", "/my-bookings", undefined, bob)
    assert.strictEqual(bobs.at("data.0.startTime"), salon.at(4, "10:00"))
  })

  it("keep their time when the one they shall move to is taken or not offered", async () => {
    const service = await salon.service({ priceCents: 5_000 })
    const providerId = await salon.provider(service)
    const book = (time: string) => salon.book(ann, service, salon.at(5, time), { providerId })
    const [first, ...others] = await Promise.all([book("09:00"), book("10:00"), book("11:00")])
    const move = (id: string, time: string) =>
      salon.ask("POST", `/appointments/bookings/${id}/reschedule`, { newStartTime: salon.at(5, time) }, ann)
    assert.strictEqual((await move(first, "10:00")).status, 409)
    assert.strictEqual((await move(first, "18:00")).status, 422)
    assert.strictEqual(await salon.status(first), "provisional")
    // Its own time is free for it; what was agreed stays.
    await salon.done("PATCH", `/services/${service}`, { priceCents: 9_000, durationMinutes: 30 })
    const moved = await move(first, "09:30")
    assert.deepStrictEqual([moved.status, moved.at("data.newBooking.priceCents")], [201, 5_000])
    const ids = [moved.text("data.newBooking.id"), ...others]
    const answers = await Promise.all(ids.map((id) => move(id, "14:00")))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409, 409])
    const active = await salon.done("GET", `/bookings?providerId=${providerId}&status=provisional`)
    assert.strictEqual(active.at("meta.pagination.total"), 3)
  })

  it("wait for the turn of their table before they lock a provider, when they are booked or moved", async () => {
    const service = await salon.service()
    const providerId = await salon.provider(service)
    const first = await salon.book(ann, service, salon.at(5, "09:00"), { providerId })
    const { sql, transaction, turn } = salon.tables
    const waiting = Effect.repeat(sql`select 1 from pg_locks where locktype = 'advisory' and not granted`, {
      until: (rows) => rows.length > 0
    })
    const requests = [
      ["", salon.wish(service, salon.at(5, "11:00"), { providerId })],
      [`/${first}/reschedule`, { newStartTime: salon.at(5, "10:00") }]
    ] as const
    for (const [path, body] of requests) {
      const held = Effect.gen(function*() {
        yield* turn(bookings)
        const answer = salon.ask("POST", `/appointments/bookings${path}`, body, ann)
        yield* waiting
        yield* sql`select 1 from appointment_providers where id = ${providerId}::uuid for update nowait`
        return { answer }
      })
      const { answer } = await salon.serviceRegistry.run(transaction(held))
      assert.strictEqual((await answer).status, 201)
    }
  })

  it("show visitors what can be booked, without addresses", async () => {
    const service = await salon.service({ slug: "perm" })
    const providerId = await salon.provider(service, { userId: "user-grace", bio: "Cuts" })
    const shown = async (as: Parameters<Salon["done"]>[3]) => {
      const { at } = await salon.done("GET", `/providers/${providerId}`, undefined, as)
      return [at("data.email"), at("data.phone"), at("data.userId"), at("data.bio")]
    }
    for (const as of [null, ann]) assert.deepStrictEqual(await shown(as), [null, null, null, "Cuts"])
    assert.deepStrictEqual(await shown(staff), ["g@example.com", "1", "user-grace", "Cuts"])
    assert.notInclude(JSON.stringify((await salon.done("GET", "/providers?limit=100", undefined, null)).body), "@")
    const patched = await salon.done("PATCH", `/services/${service}`, { slug: "other", isActive: false })
    assert.deepInclude(patched.at("data"), { slug: "perm", isActive: false })
    await salon.refused("404 NOT_FOUND", "GET", `/services/${service}`, undefined, null)
    await salon.done("PATCH", `/providers/${providerId}`, { isActive: false })
    await salon.refused("404 NOT_FOUND", "GET", `/providers/${providerId}`, undefined, ann)
    const listed = await salon.done("GET", "/services?isActive=false&limit=100", undefined, null)
    assert.notInclude(JSON.stringify(listed.body), service)
    await salon.refused("409 CONFLICT", "POST", "/services", { name: "Perm", slug: "perm" })
    const offered = `/providers/${providerId}/services`
    await salon.refused("409 CONFLICT", "POST", offered, { serviceTypeId: service })
    await salon.refused("422 VALIDATION_FAILED", "POST", offered, { serviceTypeId: randomUUID() })
    await salon.refused("404 NOT_FOUND", "POST", `/providers/${randomUUID()}/services`, { serviceTypeId: service })
    await salon.refused("422 VALIDATION_FAILED", "PATCH", `/providers/${providerId}`, { timezone: "Mars/Base" })
    await salon.refused("422 VALIDATION_FAILED", "POST", "/providers", { name: "x", timezone: "Mars/Base" })
    const link = (await salon.done("GET", offered, undefined, null)).text("data.0.id")
    await salon.done("DELETE", `${offered}/${link}`)
    await salon.refused("404 NOT_FOUND", "DELETE", `${offered}/${link}`)
    await salon.done("DELETE", `/providers/${providerId}`)
    const booked = await salon.service()
    const kept = await salon.provider(booked)
    await salon.book(ann, booked, salon.at(2, "09:00"))
    await salon.refused("409 CONFLICT", "DELETE", `/providers/${kept}`)
    await salon.refused("409 CONFLICT", "DELETE", `/services/${booked}`)
  })

  it("are counted by state, with what they bring", async () => {
    const service = await salon.service({ priceCents: 1_000 })
    const providerId = await salon.provider(service)
    for (const [time, move] of [["09:00", "complete"], ["10:00", "cancel"], ["11:00", ""]] as const) {
      const id = await salon.book(ann, service, salon.at(6, time), { providerId })
      if (move !== "") await salon.done("POST", `/bookings/${id}/${move}`, {})
    }
    const names = ["count", "revenue", "averagePrice"].map((name) => `AppointmentBookings.${name}`)
    const { at, status } = await salon.ask("POST", "/analytics/query", {
      measures: names,
      filters: [{ member: "AppointmentBookings.providerId", operator: "equals", values: [providerId] }]
    })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(names.map((name) => Number(Object(at("data.rows.0"))[name])), [3, 1_000, 1_000])
  })

  it("to come are cancelled once their customer is erased, and no mail goes to them", async () => {
    const erin = customer("erin")
    const as = { ...erin, permissions: [...erin.permissions, "customers:read:self", "customers:update:self"] }
    await salon.ask("GET", "/me/profile", undefined, as)
    const service = await salon.service()
    const providerId = await salon.provider(service)
    const id = await salon.book(as, service, salon.at(5, "10:00"), { providerId, customerEmail: as.email })
    assert.notInclude(await salon.slots(providerId, service, salon.day(5)), "10:00")
    assert.strictEqual((await salon.ask("DELETE", "/me", undefined, as)).status, 200)
    await waitFor("the end of the appointment", async () => await salon.status(id) === "cancelled")
    assert.include(await salon.slots(providerId, service, salon.day(5)), "10:00")
    assert.isEmpty(salon.mails.filter(({ to }) => to === as.email || to === ""))
  })

  it("need a name of a customer that books, who is signed in", async () => {
    const visitor = { ...testCustomerActor, userId: null, permissions: ["appointments:book"] }
    await salon.refused("401 UNAUTHORIZED", "GET", "/my-bookings", undefined, null)
    await salon.refused("401 UNAUTHORIZED", "POST", "/my-calendar", {}, visitor)
  })
})
