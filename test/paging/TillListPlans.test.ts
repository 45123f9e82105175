import { posRestaurant } from "../../src/plugins/pos-restaurant/index.ts"
import { pos } from "../../src/plugins/pos/index.ts"
import { asAdmin } from "../support/TestApp.ts"
import { ofOne, uuid } from "./ManyRows.ts"
import { asked, last, lastOfOne, one, pluginLists, rare, rows } from "./PluginLists.ts"

/** The last tickets are of one station: open ones behind served ones. */
const ticketRows = {
  station_id: `case when n > ${rows - 2 * ofOne} then t.station_id else ${uuid} end`,
  status: `case when n > ${rows - ofOne} then 'pending' else 'served' end`,
  served_at: `case when n <= ${rows - ofOne} then t.fired_at + n * interval '1 second' end`
}

pluginLists("lists of tills, their shifts, sales and closings, and of restaurants", {
  plugins: [pos(), posRestaurant()],
  samples: {
    pos_shifts: { openingFloat: 0, status: "closed", closingCount: 0 },
    pos_cash_events: { amount: 1, type: "drop" },
    pos_transactions: { currency: "USD", status: "completed", businessDate: "2030-01-01" },
    pos_payments: { amount: 1, changeGiven: 0, tip: 0 },
    pos_closings: { number: 1, businessDate: "2030-01-01" },
    pos_fiscal_records: { number: 1 },
    pos_daily_pnl: { date: "2030-01-01" },
    kds_tickets: { firedAt: "2030-01-01T00:00:00Z", businessDate: "2030-01-01" }
  },
  growing: {
    pos_terminals: {
      columns: { ...rare("is_active", "false"), ...rare("type", "kiosk"), code: "'T' || n", warehouse_id: "null" }
    },
    pos_devices: { columns: { ...last("terminal_id"), api_key_id: uuid } },
    pos_shifts: {
      columns: {
        ...last("terminal_id"),
        ...last("operator_id", { value: "ann", others: "'operator ' || n" }),
        ...rare("status", "closed"),
        closing_id: uuid
      }
    },
    pos_cash_events: { columns: lastOfOne("shift_id") },
    pos_transactions: {
      columns: {
        ...last("shift_id"),
        ...last("customer_id"),
        ...last("terminal_id"),
        ...last("business_date", { value: "2030-01-02", others: "t.business_date + n" }),
        ...rare("status", "held"),
        receipt_number: "'R-' || n",
        client_id: "null",
        closing_id: `case when n > ${rows - ofOne} then null else ${uuid} end`
      }
    },
    pos_closings: {
      columns: {
        ...last("terminal_id"),
        ...last("business_date", { value: "2030-01-02", others: "t.business_date + n" }),
        number: "n"
      }
    },
    pos_tables: {
      columns: {
        ...last("zone", { value: "Roof", others: "'Hall'" }),
        ...rare("status", "cleaning"),
        number: "'N' || n"
      }
    },
    pos_checklists: { columns: { ...rare("type", "shift_close"), ...rare("is_active", "false") } },
    pos_restaurant_alerts: {
      columns: {
        ...rare("type", "unclosed_bill"),
        ...rare("severity", "critical"),
        ...rare("is_resolved", "true"),
        reference_id: uuid
      }
    },
    pos_daily_pnl: { columns: { ...rare("status", "submitted"), date: "t.date + n" } },
    pos_customer_favorites: { columns: { ...last("customer_id"), entity_id: uuid } },
    pos_modifier_groups: {
      columns: {
        ...last("entity_id"),
        ...last("item_group", { value: "Pizza", others: "'group ' || n", turn: 1 }),
        name: "'M' || n"
      }
    },
    pos_modifier_options: { columns: lastOfOne("group_id") },
    pos_combos: { columns: { ...rare("is_active", "false"), entity_id: uuid } },
    pos_combo_groups: { columns: lastOfOne("combo_id") },
    pos_combo_items: { columns: lastOfOne("group_id") },
    pos_menu_availability: { columns: { entity_id: uuid } },
    pos_recipes: { columns: { ...last("entity_id"), ...rare("is_active", "false") } },
    kds_stations: { columns: { ...rare("is_active", "false"), name: "'S' || n" } },
    kds_tickets: {
      columns: {
        ...ticketRows,
        fired_at: "t.fired_at + n * interval '1 second'",
        ticket_number: "'K' || n",
        order_id: uuid,
        transaction_id: uuid
      }
    }
  },
  asks: (made) =>
    asked(asAdmin, {
      "/api/pos/terminals": ["isActive=true", "isActive=false", "type=register", "type=kiosk"],
      "/api/pos/devices": [`terminalId=${one}`],
      "/api/pos/shifts": [`terminalId=${one}`, "operatorId=ann", "status=closed"],
      [`/api/pos/shifts/${made("pos_shifts")}/cash-events`]: [],
      "/api/pos/transactions/held": [`terminalId=${one}`],
      "/api/pos/transactions": [
        `shiftId=${one}`,
        "status=completed",
        "status=held",
        "businessDate=2030-01-02",
        `customerId=${one}`,
        "receiptNumber=R-1"
      ],
      "/api/pos/restaurant/tables": ["zone=Hall", "zone=Roof", "status=available", "status=cleaning"],
      "/api/pos/restaurant/checklists": [
        "type=pre_billing",
        "type=shift_close",
        "isActive=true",
        "isActive=false"
      ],
      "/api/pos/restaurant/alerts": [
        "type=delayed_order",
        "type=unclosed_bill",
        "severity=warning",
        "severity=critical",
        "isResolved=false",
        "isResolved=true",
        "unresolvedOnly=true"
      ],
      "/api/pos/restaurant/analytics/daily-pnl": ["status=draft", "status=submitted"],
      [`/api/pos/restaurant/customers/${one}/favorites`]: [],
      "/api/pos/restaurant/modifier-groups": [`entityId=${one}`, "itemGroup=Pizza"],
      [`/api/pos/restaurant/modifier-groups/${made("pos_modifier_groups")}/options`]: [],
      "/api/pos/restaurant/combos": ["isActive=true", "isActive=false"],
      [`/api/pos/restaurant/combos/${made("pos_combos")}/groups`]: [],
      [`/api/pos/restaurant/combo-groups/${made("pos_combo_groups")}/items`]: [],
      "/api/pos/restaurant/menu": [],
      "/api/pos/restaurant/recipes": [`entityId=${one}`, "isActive=false"],
      "/api/pos/restaurant/kds/stations": ["isActive=true", "isActive=false"],
      [`/api/pos/restaurant/kds/stations/${made("kds_stations")}/tickets`]: ["state=served", "since=2029-01-01"],
      "/api/pos/closings": [`terminalId=${one}`, "businessDate=2030-01-02"]
    }).filter(([path]) => path !== "/api/pos/transactions/held"),
  exceptions: {
    "/api/pos/transactions/held": "it is the list of one terminal",
    "/api/pos/restaurant/menu?entityId": "an entity has one entry",
    "/api/pos/restaurant/combos?entityId": "an entity has one combo",
    "/api/pos/transactions?receiptNumber": "a number is of one transaction"
  }
})
