"""Other columns that explain the values, chosen on the page."""

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.support.ui import Select
from tests.app.test_pages import Page


@pytest.fixture(scope="module")
def load_file(tmp_path_factory):
    """Hours of a load that follows the temperature, with a price that does not count."""
    rng, n = np.random.default_rng(0), 336
    t = np.arange(n)
    temp = 12 + 4 * np.cos(2 * np.pi * (t - 15) / 24) + np.cumsum(0.5 * rng.normal(size=n))
    load = 50 + 3 * np.cos(2 * np.pi * t / 24) - 0.8 * temp + 0.5 * rng.normal(size=n)
    times = pd.date_range("2024-01-01", periods=n, freq="h")
    names = np.where(temp > 12, "warm", "cold")
    columns = {"time": times, "load": load, "temp": temp, "price": rng.normal(size=n), "sky": names}
    path = tmp_path_factory.mktemp("load") / "load.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_other_columns_are_part_of_the_fit_and_their_effects_come_back(server, load_file):
    file = server.upload(load_file)
    one = server.fit(file, reading={"value": "load"}, asked={"columns": ["temp", "price"]})
    assert server.wait(one)["state"] == "done"
    result = next(frame for frame in server.story(one) if frame["t"] == "result")
    temp, price = result["effects"]
    assert temp["coefficient"].startswith(("-0.7", "-0.8"))
    assert (temp["words"], price["coefficient"]) == ("in the fit", "")
    assert "chance explains as much" in price["words"]
    assert result["command"].endswith("--with temp,price")
    assert (
        "read_regressors(samples, 'load.csv', names=('temp', 'price'), value='load')"
        in (result["python"])
    )


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("wind", "“Other columns”: wind: load.csv: no column 'wind'"),
        ("sky", "'cold' is no number; correct it, choose another column with “Other columns”"),
        ("load", "“Other columns”: load is the time or the value of the fit"),
    ],
)
def test_a_column_that_explains_nothing_is_named_with_its_control(server, load_file, column, words):
    file = server.upload(load_file)
    one = server.fit(file, reading={"value": "load"}, asked={"columns": [column]})
    told = server.wait(one)
    assert told["state"] == "failed"
    assert words in told["words"]


def test_a_forecast_that_would_need_other_columns_is_refused_before_the_fit(server, load_file):
    asked = {"asked": {"columns": ["temp"]}, "forecast": "24h"}
    answer = server.ask(f"/api/files/{server.upload(load_file)}/fits", asked)
    assert answer.status == 400
    assert "“Forecast, how far” needs temp after the record" in answer.json["detail"]


@pytest.mark.browser
def test_columns_are_chosen_on_the_page_and_the_table_shows_their_effects(
    browser, server, load_file
):
    page = Page(browser, server)
    page.until("document.querySelectorAll('#examples button').length >= 3")
    page.drop(load_file)
    page.until("document.body.dataset.state === 'failed'")  # load, temp or price?
    form = page.find("controls")
    browser.execute_script("document.getElementById('reading').open = true")
    Select(browser.find_element("name", "column-value")).select_by_visible_text("load")
    first = page.js("document.body.dataset.fit")
    form.submit()
    page.until("document.body.dataset.fit !== arguments[0]", first)
    second = page.shown()
    assert not page.find("effects").is_displayed()
    Select(form.find_element("name", "columns")).select_by_visible_text("temp")
    form.submit()
    page.until("document.body.dataset.fit !== arguments[0]", second)
    third = page.shown()
    assert server.state(third)["asked"]["columns"] == ["temp"]
    assert "temp" in page.find("effects-table").text
    assert "other columns temp" in page.js("document.getElementById('history').textContent")
    assert page.complaints() == []
