import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { Erasure } from "../../domain/customers/Erasure.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { PersonalExport } from "../../workflows/customers/PersonalExport.ts"
import { deleted } from "../envelope/Envelope.ts"
import { MeGroup } from "./MeApi.ts"

/** Handlers of the routes that `MeApi.ts` declares. */
export const meHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MeGroup),
  "me",
  Effect.fnUntraced(function*(handlers) {
    const customers = yield* Customers
    const addresses = yield* Addresses
    const erasure = yield* Erasure
    const personal = yield* PersonalExport
    return handlers.handleAll({
      profile: () => customers.ownProfile,
      changeProfile: ({ payload }) => customers.changeOwn(payload),
      addresses: ({ query }) => addresses.own(pageOf(query)),
      addAddress: ({ payload }) => addresses.add(payload),
      removeAddress: ({ params }) => Effect.as(addresses.remove(params.id), deleted),
      exportAll: () => personal.all,
      erase: () => Effect.as(erasure.eraseOwn, deleted)
    })
  })
)
