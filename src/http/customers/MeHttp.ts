import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Customers } from "../../domain/customers/Customers.ts"
import { MeGroup } from "./MeApi.ts"

/** Handlers of the routes that `MeApi.ts` declares. */
export const meHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MeGroup),
  "me",
  Effect.fnUntraced(function*(handlers) {
    const customers = yield* Customers
    return handlers.handleAll({
      profile: () => customers.ownProfile,
      changeProfile: ({ payload }) => customers.changeOwn(payload)
    })
  })
)
