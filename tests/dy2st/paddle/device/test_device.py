"""Devices: the CPU is there, every other one is refused with the same words."""

import pytest

import dy2st
from dy2st import device


@pytest.mark.parametrize("name", ["cpu", "CPU", "cpu:0", None, dy2st.CPUPlace()])
def test_the_cpu_can_be_chosen(name):
    assert dy2st.set_device(name) == dy2st.CPUPlace() == device.set_device("cpu")
    assert dy2st.get_device() == device.get_device() == "cpu"
    with device.device_guard("cpu"):
        pass


@pytest.mark.parametrize("name", ["gpu", "gpu:1", "xpu", "npu:0", 0])
def test_other_devices_are_refused(name):
    with pytest.raises(dy2st.errors.ArgumentError, match="dy2st computes on the CPU"):
        dy2st.set_device(name)


@pytest.mark.parametrize("place", ["CUDAPlace", "CUDAPinnedPlace", "XPUPlace", "IPUPlace"])
def test_other_places_can_be_asked_for_but_not_made(place):
    kind = getattr(dy2st, place)
    assert not isinstance(dy2st.CPUPlace(), kind)
    with pytest.raises(dy2st.errors.ArgumentError, match=place):
        kind(0)


def test_a_name_that_is_no_device_is_refused():
    with pytest.raises(dy2st.errors.ArgumentError, match="'gpuu'"):
        dy2st.set_device("gpuu")


def test_a_place_says_what_it_is():
    place = dy2st.CPUPlace()
    assert place.is_cpu_place() and not place.is_gpu_place() and not place.is_custom_place()
    assert repr(place) == "Place(cpu)" and hash(place) == hash(dy2st.CPUPlace())


def test_nothing_else_is_built_in():
    asked = [name for name in device.__all__ if name.startswith("is_compiled_with_")]
    asked.remove("is_compiled_with_custom_device")
    assert len(asked) == 6 and not any(getattr(device, name)() for name in asked)
    assert not dy2st.is_compiled_with_cuda() and not device.is_compiled_with_custom_device("npu")
    assert device.device_count() == device.cuda.device_count() == 0 and not device.is_available()
    assert device.get_all_device_type() == device.get_available_device() == ["cpu"]
    assert device.get_all_custom_device_type() == [] and device.get_cudnn_version() is None


def test_scripts_may_wait_for_gpus_and_measure_their_memory():
    device.synchronize(), device.cuda.synchronize(), device.cuda.empty_cache()
    assert device.cuda.max_memory_allocated() == device.max_memory_allocated() == 0
    with pytest.raises(dy2st.errors.ArgumentError):
        device.cuda.get_device_name()


def test_events_measure_time_and_streams_are_done():
    begin, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
    begin.record()
    with device.stream_guard(device.Stream()):
        device.current_stream().record_event(end)
    device.current_stream().wait_event(end), device.current_stream().synchronize()
    assert begin.elapsed_time(end) >= 0 and end.query() and device.Stream().query()


def test_random_numbers_begin_anew():
    device.manual_seed(3)
    first = dy2st.rand([2]).tolist()
    dy2st.seed(3)
    assert dy2st.rand([2]).tolist() == first
