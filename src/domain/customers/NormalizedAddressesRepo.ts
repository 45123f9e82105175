import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { addressIn, KeptAddress } from "../platform/addresses/PostalAddress.ts"
import { nilId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"

const size = 1_000

const Row = Schema.Struct({ id: Schema.String, address: KeptAddress })

/** Normalizes the addresses of customers by the rule of requests; what does not have its form is marked. */
export const normalizesAddresses = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  let last: string = nilId
  for (;;) {
    const rows = yield* decoding(sql, Row)`select id, jsonb_build_object('line1', line1, 'city', city, 'state', state,
        'postalCode', postal_code, 'country', country) as address
      from customer_addresses where id > ${last}::uuid order by id limit ${size}`
    const end = rows.at(-1)
    if (end === undefined) return
    last = end.id
    const changed = rows.flatMap(({ address, id }) => {
      const { country, postalCode = null, state = null, unchecked = false } = addressIn(address) ?? address
      const isSame = country === address.country && postalCode === (address.postalCode ?? null) &&
        state === (address.state ?? null) && !unchecked
      return isSame ? [] : [{ id, country, postalCode, state, unchecked }]
    })
    yield* sql`update customer_addresses a
      set country = r.country, postal_code = r."postalCode", state = r.state, unchecked = r.unchecked
      from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
        as r(id uuid, country text, "postalCode" text, state text, unchecked boolean)
      where a.id = r.id`
  }
})
