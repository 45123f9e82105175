import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { makeBrowser } from "../support/Browser.ts"
import { at, live, testAppLayer } from "../support/TestApp.ts"
import { aVisitor, boughtBy, makeOutbox, newEmail, password, signIn, verify, type Visitor } from "./Visitors.ts"

const outbox = makeOutbox()

/** Addresses need no verification here, so users are signed in before theirs is verified. */
const app = testAppLayer({ email: { send: outbox.send }, auth: { requireEmailVerification: false } })

/** The orders of a browser's user. */
const ordersIn = (browser: Visitor["browser"]) =>
  Effect.map(browser.get("/api/me/orders"), (answer) => {
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    return answer.list("data").map((one) => at(one, "id"))
  })

/** The link that verifies a visitor's address. */
const linkFor = Effect.fnUntraced(function*({ browser, email }: Visitor) {
  const asked = yield* browser.post("/api/auth/send-verification-email", { email })
  assert.strictEqual(asked.status, 200, JSON.stringify(asked.body))
  return yield* outbox.linkTo(email, "email-verification")
})

/** Follows a link as the owner of the mailbox, in a new browser. */
const open = (link: URL) => Effect.map(verify(link), ({ status }) => assert.strictEqual(status, 200))

const claimsOf = (orderId: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql`select 1 from outbox_events where type = 'orders.claim' and entity_id = ${orderId}
        and source = 'rest' and request_id is not null`
    ),
    ({ length }) => length
  )

/** The same order, of a guest of another organization. */
const copiedTo = Effect.fnUntraced(function*(store: string, orderId: string) {
  const id = crypto.randomUUID()
  const changed = JSON.stringify({ id, organization_id: store })
  yield* onDatabase((sql) =>
    Effect.andThen(
      sql`insert into organizations (id, slug, name) values (${store}, ${store}, ${store}) on conflict do nothing`,
      sql`insert into orders select (jsonb_populate_record(o, ${changed}::jsonb)).* from orders o
        where id = ${orderId}::uuid`
    )
  )
  return id
})

layer(app, live)("orders of guests", (it) => {
  it.effect("orders of guests become those of the user who verifies their address by the link, once", () =>
    Effect.gen(function*() {
      const email = newEmail()
      const order = yield* boughtBy(email)
      const foreign = yield* copiedTo("org_other", order)
      const [ann, other] = [yield* aVisitor(email), yield* aVisitor()]
      assert.deepStrictEqual(yield* ordersIn(ann.browser), [], "signed up, without a verified address")
      assert.deepStrictEqual(yield* ordersIn((yield* signIn(email)).browser), [], "nor by signing in")

      yield* open(yield* linkFor(other))
      assert.deepStrictEqual(yield* ordersIn((yield* signIn(other.email)).browser), [])
      const link = yield* linkFor(ann)
      yield* open(link)
      assert.strictEqual(yield* claimsOf(order), 1, "the link itself claims")
      yield* open(link)
      for (const _ of [1, 2]) assert.deepStrictEqual(yield* ordersIn((yield* signIn(email)).browser), [order])
      assert.strictEqual(yield* claimsOf(order), 1)
      const untouched = yield* onDatabase((sql) =>
        sql`select 1 from orders where id = ${foreign}::uuid and customer_id is null`
      )
      assert.strictEqual(untouched.length, 1)
    }))

  it.effect("orders of guests are not shown to a user who signed in before the address was verified", () =>
    Effect.gen(function*() {
      const email = newEmail()
      yield* boughtBy(email)
      const [outsider, bystander] = [yield* aVisitor(email), yield* aVisitor()]
      const second = yield* signIn(email)
      yield* open(yield* linkFor(outsider))
      for (const { browser } of [outsider, second]) {
        assert.strictEqual((yield* browser.get("/api/me/orders")).status, 401)
        assert.isNull((yield* browser.get("/api/auth/get-session")).body)
      }
      assert.strictEqual((yield* bystander.browser.get("/api/me/orders")).status, 200)
    }))

  it.effect("orders of guests that are placed later become the user's at the next sign-in", () =>
    Effect.gen(function*() {
      const ann = yield* aVisitor()
      yield* open(yield* linkFor(ann))
      const { browser } = yield* signIn(ann.email)
      const order = yield* boughtBy(ann.email.toUpperCase())
      assert.deepStrictEqual(yield* ordersIn(browser), [])
      assert.deepStrictEqual(yield* ordersIn((yield* signIn(ann.email)).browser), [order])
    }))

  it.effect("orders of guests are the only reason to create a customer at a sign-in", () =>
    Effect.gen(function*() {
      const ann = yield* aVisitor()
      yield* open(yield* linkFor(ann))
      yield* signIn(ann.email)
      const profiles = yield* onDatabase((sql) => sql`select 1 from customers where user_id = ${ann.userId}`)
      assert.strictEqual(profiles.length, 0)
    }))

  it.effect("orders of guests that cannot be claimed do not prevent a verification or a sign-in, and are claimed later", () =>
    Effect.gen(function*() {
      const ann = yield* aVisitor()
      const order = yield* boughtBy(ann.email)
      yield* onDatabase((sql) =>
        sql`alter table orders add constraint unclaimed check (email <> ${
          sql.literal(`'${ann.email}'`)
        } or customer_id is null)`
      )
      yield* open(yield* linkFor(ann))
      const { answer, browser } = yield* signIn(ann.email)
      assert.deepStrictEqual([answer.status, answer.at("user.emailVerified")], [200, true])
      assert.deepStrictEqual(yield* ordersIn(browser), [])
      yield* onDatabase((sql) => sql`alter table orders drop constraint unclaimed`)
      assert.deepStrictEqual(yield* ordersIn((yield* signIn(ann.email)).browser), [order])
    }))
})

const stores = testAppLayer({
  email: { send: outbox.send },
  auth: { requireEmailVerification: false, storeResolver: (request) => request.headers.get("x-store-id") }
})

/** A page that names its store in each request. */
const pageOf = (store: string, page = makeBrowser()): Visitor["browser"] => ({
  ...page,
  call: (method, path, options = {}) =>
    page.call(method, path, { ...options, headers: { "x-store-id": store, ...options.headers } }),
  post: (path, body) =>
    page.call("POST", path, { headers: { "x-store-id": store }, ...body === undefined ? {} : { body } }),
  get: (path) => page.call("GET", path, { headers: { "x-store-id": store } })
})

/** The organizations of the mails of a template. */
const storesOf = (template: string) =>
  onDatabase((sql) =>
    sql`select distinct organization_id from commerce_jobs where task_slug = 'mail/send'
      and input->>'template' = ${template}`
  )

layer(stores, live)("orders of guests of two stores", (it) => {
  it.effect("orders of guests of two stores become the user's in the store of the request that verified the address, which also sends the mails", () =>
    Effect.gen(function*() {
      const email = newEmail()
      const here = yield* boughtBy(email)
      const there = yield* copiedTo("org_two", here)
      const ann = yield* aVisitor(email, pageOf("org_two"))
      const ordersOfBoth = onDatabase((sql) =>
        sql<{ readonly id: string }>`select id from orders where id = any(${[here, there]}::uuid[])
          and customer_id is not null`
      )

      const link = yield* linkFor(ann)
      assert.deepStrictEqual(yield* storesOf("email-verification"), [{ organization_id: "org_two" }])
      // The link names the store, since a mail program sends no headers of a shop.
      yield* open(link)
      assert.deepStrictEqual(yield* ordersOfBoth, [{ id: there }])
      assert.deepStrictEqual(yield* ordersIn((yield* signIn(email, password, pageOf("org_two"))).browser), [there])
      assert.deepStrictEqual(yield* ordersOfBoth, [{ id: there }])
      assert.deepStrictEqual(yield* ordersIn((yield* signIn(email)).browser), [here])

      yield* pageOf("org_two").post("/api/auth/request-password-reset", { email })
      yield* outbox.linkTo(email, "password-reset")
      assert.deepStrictEqual(yield* storesOf("password-reset"), [{ organization_id: "org_two" }])
    }))

  it.effect("orders of guests of two stores are claimed in the default store when the link names an unknown one", () =>
    Effect.gen(function*() {
      const email = newEmail()
      const order = yield* boughtBy(email)
      const link = yield* linkFor(yield* aVisitor(email))
      assert.isNull(link.searchParams.get("organizationId"))
      link.searchParams.set("organizationId", "org_none")
      yield* open(link)
      assert.strictEqual(yield* claimsOf(order), 1)
    }))
})
