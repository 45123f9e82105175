import { document31Of } from "../../src/http/docs/Docs.ts"
import { isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"
import { appointments } from "../../src/plugins/appointments/index.ts"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { documentWith } from "../../src/plugins/kit/install/PluginDocument.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { notifications } from "../../src/plugins/notifications/index.ts"
import { posRestaurant } from "../../src/plugins/pos-restaurant/index.ts"
import { pos } from "../../src/plugins/pos/index.ts"
import { procurement } from "../../src/plugins/procurement/index.ts"
import { production } from "../../src/plugins/production/index.ts"
import { reviews } from "../../src/plugins/reviews/index.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"
import { uom } from "../../src/plugins/uom/index.ts"
import { warehouse } from "../../src/plugins/warehouse/index.ts"

const plugins = [
  marketplace(),
  giftCards(),
  uom,
  warehouse,
  procurement(),
  production,
  notifications(),
  scheduledOrders(),
  reviews(),
  appointments(),
  pos(),
  posRestaurant()
]

const settings = testSettings("postgres://nowhere/none", { plugins })

/** The documents of a deployment with every plugin of the repository. */
export const whole30 = documentWith(settings, plugins, "1.0.0")
export const whole31 = documentWith(settings, plugins, "1.0.0", document31Of)

export interface DocumentedOperation {
  /** `GET /api/carts/{id}` */
  readonly name: string
  readonly operation: JsonObject
}

export const operationsIn = (document: JsonObject): ReadonlyArray<DocumentedOperation> =>
  entriesOf(document["paths"]).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) =>
      isObject(operation) ? [{ name: `${method.toUpperCase()} ${path}`, operation }] : []
    )
  )

export const entriesOf = (value: Json | undefined): ReadonlyArray<[string, Json]> =>
  isObject(value) ? Object.entries(value) : []
