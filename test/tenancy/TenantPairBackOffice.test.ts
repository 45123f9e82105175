import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ApiKeyRepo, apiKeyRepoLayer } from "../../src/domain/access/ApiKeyRepo.ts"
import { AuditRepo, auditRepoLayer } from "../../src/domain/audit/AuditRepo.ts"
import { MembershipRepo, membershipRepoLayer } from "../../src/domain/auth/MembershipRepo.ts"
import { CustomerGroupRepo, customerGroupRepoLayer } from "../../src/domain/customers/CustomerGroupRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { JobRecordRepo, jobRecordRepoLayer } from "../../src/domain/jobs/JobRecordRepo.ts"
import { OrderMailRepo, orderMailRepoLayer } from "../../src/domain/mail/OrderMailRepo.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { elsewhere, givenAway, here, openElsewhere } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  apiKeyRepoLayer,
  auditRepoLayer,
  customerGroupRepoLayer,
  jobRecordRepoLayer,
  membershipRepoLayer,
  orderMailRepoLayer
).pipe(Layer.provideMerge(TestDatabase))

/** The services in front of these repositories look first, and so would hide a repository that does not. */
it.layer(Repos, { excludeTestServices: true })("the back office of another organization, past its services", (it) => {
  it.effect("keys: neither found nor taken away", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const keys = yield* ApiKeyRepo
      const id = newId()
      yield* sql`insert into api_keys (id, name, start, prefix, key, reference_id, organization_id, role, config_id,
          enabled, created_at, updated_at)
        values (${id}::uuid, 'a key', 's', 'p', ${id}, 'org_default', 'org_default', 'staff', 'default', true, now(),
          now())`
      assert.isUndefined(yield* elsewhere(keys.find(id)))
      assert.isFalse(yield* elsewhere(keys.remove(id)))
      assert.strictEqual((yield* here(keys.find(id)))?.id, id)
    }))

  it.effect("the audit trail: entries that have no place yet are not counted", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [audit, groups] = [yield* AuditRepo, yield* CustomerGroupRepo]
      const at = new Date()
      const group = {
        id: newId(),
        organizationId: "org_elsewhere",
        name: "VIP",
        description: null,
        metadata: {},
        createdAt: at,
        updatedAt: at
      }
      yield* elsewhere(groups.insert(group))
      const recorded = (organization: typeof here) =>
        Effect.map(organization(audit.list({}, { page: 1, limit: 100 })), ({ items, total }) => [items.length, total])
      const [ours, theirs] = [yield* recorded(here), yield* recorded(elsewhere)]
      assert.deepStrictEqual(ours, [ours[0], ours[0]])
      assert.deepStrictEqual(theirs, [1, 1])
    }))

  it.effect("members: the role is the one of the organization", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const members = yield* MembershipRepo
      const [both, one] = [newId(), newId()]
      for (const id of [both, one]) {
        yield* sql`insert into users (id, name, email) values (${id}::uuid, 'Ann', ${`${id}@example.com`})`
      }
      yield* sql`insert into members (organization_id, user_id, role) values ('org_default', ${both}::uuid, 'staff'),
        ('org_elsewhere', ${both}::uuid, 'owner'), ('org_default', ${one}::uuid, 'admin')`
      assert.strictEqual(yield* members.roleOf(both, "org_default"), "staff")
      assert.strictEqual(yield* members.roleOf(both, "org_elsewhere"), "owner")
      assert.isUndefined(yield* members.roleOf(one, "org_elsewhere"))
    }))

  it.effect("orders: a mail about one does not ask elsewhere whether it is paid", () =>
    Effect.gen(function*() {
      const { id } = yield* buildOrder()
      const mails = yield* OrderMailRepo
      assert.isDefined(yield* here(mails.paymentState(id)))
      assert.isUndefined(yield* elsewhere(mails.paymentState(id)))
      const mail = { id: newId(), orderId: id, template: "order-confirmation", failure: null }
      yield* elsewhere(mails.note(mail))
      const noted = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql`select 1 from order_mails where order_id = ${id}::uuid`)
      assert.deepStrictEqual(yield* noted, [])
      yield* here(mails.note(mail))
      assert.strictEqual((yield* noted).length, 1)
    }))

  it.effect("orders: a mail about one goes to whom our own cart, order and customer name", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const mails = yield* OrderMailRepo
      const [cart, customer, ours, theirs] = [newId(), newId(), newId(), newId()]
      const order = yield* buildOrder({ customerId: customer })
      yield* sql`insert into customers (id, organization_id, user_id, email)
        values (${customer}::uuid, 'org_default', ${customer}, 'customer@x.example')`
      yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at, email)
        values (${cart}::uuid, 'org_default', 'checked_out', 'USD', 'hash', now(), 'cart@x.example')`
      yield* sql`update orders set cart_id = ${cart}::uuid where id = ${order.id}::uuid`
      yield* sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
        values (${ours}::uuid, 'org_default', 'orders.create', 'order', ${order.id}, '{}', 'user', 'rest'),
          (${theirs}::uuid, 'org_elsewhere', 'orders.create', 'order', ${order.id}, '{}', 'user', 'rest')`
      const recorded = Effect.map(
        mails.addressed([ours, theirs]),
        (all) => all.map(({ email, organizationId }) => [organizationId, email])
      )
      assert.deepStrictEqual(yield* recorded, [["org_default", "cart@x.example"]])
      yield* givenAway("carts", "id", cart)
      assert.deepStrictEqual(yield* recorded, [["org_default", "customer@x.example"]])
      yield* givenAway("customers", "id", customer)
      assert.deepStrictEqual(yield* recorded, [])
    }))

  it.effect("jobs: not shown, not listed and not begun anew", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* JobRecordRepo
      const id = newId()
      yield* sql`insert into commerce_jobs (id, organization_id, task_slug, status, completed_at)
        values (${id}::uuid, 'org_default', 'test/none', 'failed', now())`
      assert.isUndefined(yield* elsewhere(jobs.find(id)))
      assert.deepStrictEqual(yield* elsewhere(jobs.failed({ page: 1, limit: 9 })), {
        items: [],
        page: 1,
        limit: 9,
        total: 0
      })
      assert.isUndefined(yield* elsewhere(jobs.retry(id)))
      assert.strictEqual((yield* here(jobs.find(id)))?.status, "failed")
    }))
})
